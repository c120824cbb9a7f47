# %% [markdown]
# # The mean of a sensor that jumps
#
# A thermometer is read every second. Its noise is unknown, and one day it is moved to a
# warmer place. What is the temperature *now*? The average of all readings answers slowly, and after
# the move it is wrong for hours. A session of the model `gaussian` learns the mean and its own step
# size: small while nothing happens, large when something does.
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
    client.session("sensor").delete()  # of an earlier run
session = client.session("sensor", model="gaussian")

# %% [markdown]
# The readings: noise of half a degree around 20 °C, around 23 °C after the move.

# %%
rng = np.random.default_rng(7)
N, MOVED = 3000, 1500
truth = np.where(np.arange(N) < MOVED, 20.0, 23.0)
readings = truth + rng.normal(0, 0.5, N)

# %% [markdown]
# Send the readings in order, twenty at a time. An answer means that they are learnt and on disk.

# %%
at, estimates, steps = [], [], []
for k in range(0, N, 20):
    answer = session.learn_many(readings[k : k + 20])
    at.append(answer.t)
    estimates.append(session.predict())
    steps.append(answer.eta)
at, estimates = np.array(at), np.array(estimates)
averages = np.cumsum(readings)[at - 1] / at

# %% [markdown]
# Compute the error of each estimate, and the delay until the estimate is near the truth again.

# %%
before = abs(estimates[at == MOVED] - 20).item()
near = (at > MOVED) & (abs(estimates - 23) < 0.25)
delay = int(at[near][0] - MOVED)
after, average_after = abs(estimates[-1] - 23), abs(averages[-1] - 23)
print(f"just before the move the estimate is off by {before:.2f} °C")
print(f"{delay} readings after it, the estimate is within a quarter of a degree again")
print(
    f"at the end it is off by {after:.2f} °C, the average of all readings by {average_after:.2f} °C"
)

# %% [markdown]
# The session also reports drift: its loss rose after the move.

# %%
alarms = session.state().drift.at
print(f"drift reported after {', '.join(map(str, alarms))} readings; the move was after {MOVED}")

# %%
figure = Figure(figsize=(8, 5.5), layout="constrained")
top, bottom = figure.subplots(2, sharex=True, height_ratios=[2, 1])
top.plot(readings, ".", color="0.8", markersize=2, label="readings")
top.plot(at, averages, color="tab:orange", label="average of all readings")
top.plot(at, estimates, color="tab:blue", label="the session's estimate")
top.set(ylabel="°C", title="A thermometer that was moved")
for alarm in alarms:
    top.axvline(alarm, color="tab:red", linewidth=1, linestyle=":")
top.plot([], [], ":", color="tab:red", label="drift reported")
top.legend(loc="upper left")
bottom.semilogy(at, steps, color="tab:blue")
bottom.set(xlabel="readings", ylabel="step size η")
Path("out").mkdir(exist_ok=True)
figure.savefig("out/sensor.png", dpi=120)
print("drawn: out/sensor.png")
client.close()
