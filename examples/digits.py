# %% [markdown]
# # Ten classes: which digit is it?
#
# Small pictures of digits, 8 × 8 pixels, arrive one after another; each is classified before its
# label is known. The model is `softmax` with ten classes. The script draws the pictures in several
# typefaces, shifted and with noise, so that nothing has to be downloaded.
#
# Start a service with `llr serve`, then run this file, or its cells one by one.

# %%
import os
from contextlib import suppress
from pathlib import Path

import numpy as np
from llr_client import Client, SessionNotFound
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

client = Client(os.environ.get("LLR_URL", "http://127.0.0.1:8080"))
with suppress(SessionNotFound):
    client.session("digits").delete()  # of an earlier run
session = client.session("digits", model="softmax", options={"classes": 10})

# %% [markdown]
# A digit is drawn large, once for each typeface; a picture is one of these, shifted a little, made
# small, with noise on top.


# %%
def drawn(digit: int, typeface: str) -> np.ndarray:
    """A digit in 32 × 32 pixels, 1 where there is ink."""
    canvas = FigureCanvasAgg(Figure(figsize=(0.32, 0.32), dpi=100))
    canvas.figure.text(0.5, 0.47, str(digit), size=24, family=typeface, ha="center", va="center")
    canvas.draw()
    return 1 - np.asarray(canvas.buffer_rgba())[..., 0] / 255


TYPEFACES = ["DejaVu Sans", "DejaVu Serif", "DejaVu Sans Mono", "STIXGeneral"]
large = np.array([[drawn(digit, typeface) for typeface in TYPEFACES] for digit in range(10)])

rng = np.random.default_rng(5)
N = 4000
digits = rng.integers(0, 10, N)
pictures = np.empty((N, 64))
for n, digit in enumerate(digits):
    shifted = np.roll(large[digit, rng.integers(4)], rng.integers(-2, 3, 2), axis=(0, 1))
    small = shifted.reshape(8, 4, 8, 4).mean(axis=(1, 3))
    pictures[n] = (small + rng.normal(0, 0.08, (8, 8))).ravel()

# %% [markdown]
# The service answers with its prediction for each picture before it learnt that picture.

# %%
predicted = []
for k in range(0, N, 100):
    answer = session.learn_many(pictures[k : k + 100], digits[k : k + 100], predictions=True)
    predicted += [int(np.argmax(probabilities)) for probabilities in answer.predictions]
right = np.array(predicted) == digits
first, last = right[:500].mean(), right[-500:].mean()
print(f"accuracy on the first 500 pictures: {first:.1%}, on the last 500: {last:.1%}")

# %% [markdown]
# Which digits does the session confuse? Which pixels are evidence for each digit?

# %%
mistakes = np.zeros((10, 10), int)
np.add.at(mistakes, (digits[-2000:], np.array(predicted)[-2000:]), 1)
np.fill_diagonal(mistakes, 0)
digit, mistaken = np.unravel_index(mistakes.argmax(), mistakes.shape)
print(f"the most frequent mistake: {digit} taken for {mistaken}, {mistakes.max()} times in 2000")

# %%
figure = Figure(figsize=(9, 5), layout="constrained")
upper, lower = figure.subfigures(2, 1, height_ratios=[2.2, 1])
left, curve = upper.subplots(1, 2)
shown = pictures[:40].reshape(5, 8, 8, 8)
left.imshow(np.vstack([np.hstack(row) for row in shown]), cmap="gray_r")
left.set(title="The first 40 pictures", xticks=[], yticks=[])
curve.plot(np.arange(100, N + 1, 100), right.reshape(-1, 100).mean(axis=1), color="tab:blue")
curve.set(xlabel="pictures", ylabel="accuracy", ylim=(0, 1.02), title="Each hundred pictures")
theta = np.array(session.state().theta).reshape(10, 8, 8)
for digit, axes in enumerate(lower.subplots(1, 10)):
    span = np.abs(theta[digit]).max()
    axes.imshow(theta[digit], cmap="RdBu_r", vmin=-span, vmax=span)
    axes.set(title=str(digit), xticks=[], yticks=[])
lower.suptitle("theta: evidence for a digit (red) and against it (blue)")
Path("out").mkdir(exist_ok=True)
figure.savefig("out/digits.png", dpi=120)
print("drawn: out/digits.png")
client.close()
