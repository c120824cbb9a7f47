# %% [markdown]
# # The probability of a click, from labels that come late or never
#
# A page shows an offer. The label, click or no click, is known when the visit ends, which may take
# a while, and some visits never end. So each visit is predicted under an id, and the session keeps
# its features. When the visit ends, its label is sent for that id. A visit without a label in time
# counts as no click: the session applies `expired_label=0` after `label_seconds`.
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
with suppress(SessionNotFound):
    client.session("clicks").delete()  # of an earlier run
session = client.session("clicks", model="logistic", label_seconds=4.0, expired_label=0)

# %% [markdown]
# The features of a visit are the page's name and whether it is evening. Visitors click more in the
# evening, and more on the page of the cart. A visit ends at a random time during the next two
# hundred visits. One visit in fifty never gets a label.

# %%
rng = np.random.default_rng(11)
N, WAVE = 6000, 100
PAGES = ["home", "product", "cart"]
page = rng.integers(0, 3, N)
evening = (rng.integers(0, 24, N) >= 18).astype(float)
truth = 1 / (1 + np.exp(-(np.array([-3.0, -2.0, -0.5])[page] + evening)))
lost = rng.random(N) < 0.02
clicked = (rng.random(N) < truth) & ~lost
ends = np.where(lost, np.inf, np.arange(N) + rng.uniform(0, 200, N))
visits = [{"page": PAGES[p], "evening": bool(e)} for p, e in zip(page, evening, strict=True)]

# %% [markdown]
# Predict a hundred visits at a time, each under its id. Then send the labels of all visits that
# ended meanwhile, in the order in which they ended.

# %%
ids = np.array([f"visit-{n}" for n in range(N)])
predicted = np.empty(N)
for now in range(WAVE, N + 1, WAVE):
    wave = slice(now - WAVE, now)
    predicted[wave] = session.predict(visits[wave], id=list(ids[wave]))
    ended = np.flatnonzero((ends > now - WAVE) & (ends <= now))
    ended = ended[np.argsort(ends[ended])]
    if len(ended):
        answer = session.label(list(ids[ended]), clicked[ended].astype(float))
print(f"{N} visits were predicted, {answer.t} are learnt, {session.state().kept} are open")

# %% [markdown]
# Compare the predictions for the last 2000 visits, made before their labels were known, with the
# share of clicks and with the true probability, which only this simulation knows.

# %%
print("page     evening  predicted  clicked  true")
kinds, mean_predicted, happened, true = [], [], [], []
late = np.arange(N) >= N - 2000
for number, name in enumerate(PAGES):
    for when in (0, 1):
        kind = late & (page == number) & (evening == when)
        kinds.append(f"{name}\n{'evening' if when else 'day'}")
        mean_predicted.append(predicted[kind].mean())
        happened.append(clicked[kind].mean())
        true.append(truth[kind][0])
        row = f"{mean_predicted[-1]:.3f}      {happened[-1]:.3f}    {true[-1]:.3f}"
        print(f"{name:8} {'yes' if when else 'no':8} {row}")
for feature, weight in sorted(session.state().theta.items()):
    print(f"{feature:14} {weight:+.2f}")
worst = float(np.max(np.abs(np.subtract(mean_predicted, true))))
print(f"the largest error of the mean probability of a kind of visit is {worst:.3f}")

# %% [markdown]
# The visits that are still open get no label. After four seconds the session learns them as no
# click. Every visit is learnt exactly once.
#
# These last labels are a run of equal labels, and the session follows the run as it follows every
# change. That is right if there are no more clicks; otherwise send a label for every visit.

# %%
for state in session.events():
    if state.t == N:
        break
waiting = session.state().kept
print(f"now {state.t} are learnt, {waiting} are open")

# %%
figure = Figure(figsize=(9, 4), layout="constrained")
left, right = figure.subplots(1, 2)
off = np.abs(predicted - truth)
left.plot(np.arange(WAVE, N + 1, WAVE), off.reshape(-1, WAVE).mean(axis=1), color="tab:blue")
left.set(xlabel="visits", ylabel="mean error of the probability", ylim=(0, None))
left.set_title("Predictions before a visit ended")
places = np.arange(len(kinds))
right.bar(places - 0.2, happened, width=0.4, color="0.8", label="clicked")
right.bar(places + 0.2, mean_predicted, width=0.4, color="tab:blue", label="predicted")
right.hlines(true, places - 0.4, places + 0.4, color="black", label="true probability")
right.set_xticks(places, kinds)
right.set(ylabel="share of clicks", title="The last 2000 visits")
right.legend()
Path("out").mkdir(exist_ok=True)
figure.savefig("out/clicks.png", dpi=120)
print("drawn: out/clicks.png")
client.close()
