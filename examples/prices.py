# %% [markdown]
# # The price of a flat, from adverts with typing errors
#
# An advert of a flat has its size, rooms, age, district and price; in two of a hundred adverts the
# price has a zero too many. Two sessions learn from the same adverts. One minimises the squared
# error (`linear`), the other gives large errors less weight (`huber`). Which one predicts prices
# better?
#
# Start a service with `llr serve`, then run this file, or its cells one by one.

# %%
import os
from contextlib import suppress
from pathlib import Path

import numpy as np
from llr_client import Client, SessionNotFound
from matplotlib.figure import Figure

client = Client(os.environ.get("LLR_URL", "http://127.0.0.1:8080"))
for name in ("prices", "prices-huber"):
    with suppress(SessionNotFound):
        client.session(name).delete()  # of an earlier run

# %% [markdown]
# Prices are in thousands. In this simulation the true value is known: 30, plus 3.2 for a square
# metre, 9 for a room and 40 for the north, minus 0.6 for every year of age.

# %%
rng = np.random.default_rng(3)
N = 4000
area = rng.uniform(25, 150, N)
rooms = np.clip(np.round(area / 28 + rng.normal(0, 0.7, N)), 1, 6)
age = rng.uniform(0, 80, N)
north = (rng.random(N) < 0.4).astype(float)
flats = np.column_stack([area, rooms, age, north])
WORTH, BASE = [3.2, 9, -0.6, 40], 30
worth = flats @ WORTH + BASE
advertised = worth + rng.normal(0, 12, N)
mistyped = rng.random(N) < 0.02
advertised[mistyped] *= 10

# %% [markdown]
# Both sessions learn the adverts in order and predict after every hundred. Neither has a step size
# to set, and the features are not scaled. The second has a shadow: the paper's algorithm, which
# learns the same adverts and is compared with the session on each.

# %%
squared = client.session("prices", model="linear")
robust = client.session("prices-huber", model="huber", shadows={"paper": {"algorithm": "sg/ag"}})
unseen, value = flats[-500:], worth[-500:]
at, errors = [], {"linear": [], "huber": []}
for k in range(0, N - 500, 100):
    for model, session in (("linear", squared), ("huber", robust)):
        answer = session.learn_many(flats[k : k + 100], advertised[k : k + 100])
        asked = np.array(session.predict(unseen))
        errors[model].append(np.median(abs(asked - value)))
    at.append(answer.t)

# %% [markdown]
# Compare the predictions for the last 500 flats, which neither session has seen, and the
# parameters.

# %%
learnt = {}
for model, session in (("linear", squared), ("huber", robust)):
    state = session.state()
    learnt[model] = [state.intercept, *state.theta]
    parts = ", ".join(f"{part:.1f}" for part in learnt[model])
    print(f"{model}: typically off by {errors[model][-1]:.1f} thousand; it learnt {parts}")
print(f"in truth it is {', '.join(f'{part:.1f}' for part in [BASE, *WORTH])}")

# %% [markdown]
# `lead` is the session's mean loss minus the shadow's. If it were above 0,
# `robust.promote("paper")` would make the shadow the session's model.

# %%
lead = robust.state().shadows["paper"].lead
print(f"an advert costs the shadow {-lead:.1f} more: it stays a shadow")

# %%
figure = Figure(figsize=(9, 4), layout="constrained")
left, right = figure.subplots(1, 2)
left.semilogy(at, errors["linear"], color="tab:orange", label="linear")
left.semilogy(at, errors["huber"], color="tab:blue", label="huber")
left.set(xlabel="adverts", ylabel="median error, thousands", title="Error of the predicted price")
left.legend()
for model, session, color in (
    ("linear", squared, "tab:orange"),
    ("huber", robust, "tab:blue"),
):
    asked = session.predict(unseen)
    right.plot(value, asked, ".", color=color, markersize=3, label=model)
right.axline((100, 100), slope=1, color="0.6", linewidth=1)
right.set(xlabel="true value", ylabel="predicted price")
right.set_title("500 unseen flats")
Path("out").mkdir(exist_ok=True)
figure.savefig("out/prices.png", dpi=120)
print("drawn: out/prices.png")
client.close()
