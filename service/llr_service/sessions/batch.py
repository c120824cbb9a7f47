"""A batch of samples on its way through a session: its sequence, its new samples, its result."""

import asyncio
import re
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from llr import Outcome, SampleError
from llr.types import Array
from llr_service.codec import Samples
from llr_service.codec.errors import SEQ_LIMIT
from llr_service.problems import Problem
from llr_service.sessions.committer import CommitFuture
from llr_service.sessions.ensemble import Ensemble, check_feature_kind
from llr_service.sessions.storage import raise_for_outcome
from llr_service.stores.store import PendingChanges

R = TypeVar("R")

INLINE_LEARN_BYTES = 100_000
"""Bytes of a batch from which learning leaves the event loop for a thread."""

INLINE_LEARN_NS = 1_000_000
"""Nanoseconds of learning, by `Ensemble.step_ns`, from which on it leaves the event loop, too."""

INLINE_DECODE_BYTES = INLINE_LEARN_BYTES // 2
"""Bytes of a body from which decoding leaves the event loop for a thread."""

PRODUCER = re.compile(r"[\x21-\x7e]{1,128}")
"""The names of producers."""

MAX_SEQUENCE = SEQ_LIMIT


class SequenceId(NamedTuple):
    """The identity of a batch: its producer and its sequence numbers.

    Attributes:
        producer: the producer.
        seq: the number of the first sample. Where samples have numbers of their own it is the
            first number that the batch covers: if the producer is not there yet, that is a gap.
            None: only the samples' own numbers count, and what they skip is skipped.
        next: the producer's next number after the batch; None for the one after its last sample.
    """

    producer: str
    seq: int | None
    next: int | None = None

    def end(self, samples: Samples) -> int | None:
        """The producer's next number after these samples, None if they are not numbered."""
        if self.next is not None:
            return self.next
        if samples.numbers is not None and samples.n:
            return int(samples.numbers[-1]) + 1
        return None if self.seq is None else self.seq + samples.n


class Expected(NamedTuple):
    """The state that a request expects: t, and the ensemble's version if that matters."""

    t: int
    version: int | None = None


class NewSamples(NamedTuple):
    """Samples that the session has not learnt yet, and what is stored along with them.

    Attributes:
        samples: the samples.
        body_indexes: the index of each in the body it arrived in.
        producer: the producer and the number of its next sample.
        pending: the new contents of the ids whose labels these samples have.
    """

    samples: Samples
    body_indexes: Sequence[int]
    producer: tuple[str, int] | None = None
    pending: PendingChanges = ()


class LearnResult(NamedTuple):
    """The result of a batch.

    Attributes:
        ensemble: the ensemble after it.
        accepted: how many samples were new.
        duplicate: whether it had samples, none of them new.
        predictions: for each new sample, the prediction before it was learnt; if requested.
        names: the names of its features, where they have names.
        theta: θ of the champion, where it was read before another batch followed.
    """

    ensemble: Ensemble
    accepted: int
    duplicate: bool
    predictions: Any = None
    names: Sequence[str] = ()
    theta: Any = None


class PendingCommit(NamedTuple):
    """A batch that was learnt ahead of the store.

    Nothing has to be done with it: its slot in the queue is given back by the commit. A caller
    that stops waiting does not stop the commit.

    Attributes:
        learnt: the result, which holds once the commit is durable.
        commit: the commit; None if there is nothing to wait for.
    """

    learnt: LearnResult
    commit: CommitFuture[Any] | None

    async def durable(self) -> LearnResult:
        """Wait for the store, then return the result. Raises the problem of a failed commit."""
        learnt, commit = self
        if commit is not None:
            raise_for_outcome(await commit.outcome())
        return learnt


class DelayedLabels(Protocol):
    """Labels whose samples are looked up when the session is free to learn them."""

    @property
    def n(self) -> int:
        """How many there are."""

    @property
    def nbytes(self) -> int:
        """Bytes of their samples."""

    def select(self, if_match: Expected | None) -> NewSamples | PendingCommit:
        """Look up the samples whose labels are new; a PendingCommit if there are none."""


def select_unseen(
    samples: Samples, sequence: SequenceId | None, producers: dict[str, int], max_producers: int
) -> NewSamples | None:
    """Select the samples that were not learnt before, None if nothing is to be stored.

    The selection has no samples where all were learnt before, or none were sent, and only the
    producer's number moves.

    Raises:
        Problem: samples are missing before these, or the session has too many producers.
    """
    n = samples.n
    numbers = samples.numbers
    if sequence is None:
        if numbers is not None:
            raise _wrong_parameter("producer", "samples with a seq need a producer")
        return NewSamples(samples, range(n)) if n else None
    expected = producers.get(sequence.producer, 0)
    if numbers is not None:
        _check_numbers(numbers, sequence.seq)
    end = sequence.end(samples)
    if end is None:
        raise _wrong_parameter("seq", NOT_NUMBERED)
    if sequence.next is not None:
        _check_next(samples, sequence)
    if sequence.seq is not None and sequence.seq > expected:
        detail = f"producer {sequence.producer!r} is at {expected}: send from there"
        raise Problem("sequence-gap", detail, expected=expected)
    if sequence.producer not in producers and len(producers) >= max_producers:
        detail = (
            f"this session has {max_producers} producers, the most it may have: send as one of"
            " them, send to another session, or send without a producer"
        )
        raise Problem("producers-full", detail)
    if end <= expected:
        return None
    following = (sequence.producer, end)
    if numbers is None:
        known = expected - sequence.seq if sequence.seq is not None else 0
    else:
        known, samples = int(numbers.searchsorted(expected)), samples.without_numbers()
    if known >= n:
        return NewSamples(Samples.none(), range(0), following)
    return NewSamples(samples.after(known), range(known, n), following)


NOT_NUMBERED = "give the seq of the first sample beside producer, or every sample its own"


def _check_numbers(numbers: Array, first: int | None) -> None:
    """Refuse sequence numbers that do not increase, or start before `first`."""
    if first is not None and numbers.size and numbers[0] < first:
        at, detail = 0, f"must be at least {first}, where the numbers go on"
    elif (wrong := np.flatnonzero(numbers[1:] <= numbers[:-1])).size:
        at, detail = int(wrong[0]) + 1, "must be larger than the seq before it"
    else:
        return
    raise Problem("invalid", f"/{at}/seq: {detail}", [{"pointer": f"/{at}/seq", "detail": detail}])


def _check_next(samples: Samples, sequence: SequenceId) -> None:
    """Refuse a `next` that is one of the samples' numbers or before them."""
    least = sequence._replace(next=None).end(samples)
    if least is not None and sequence.next is not None and sequence.next < least:
        raise _wrong_parameter("next", f"at least {least}, the number after the last sample")


def _wrong_parameter(parameter: str, detail: str) -> Problem:
    return Problem(
        "invalid", f"{parameter}: {detail}", [{"parameter": parameter, "detail": detail}]
    )


def learn(ensemble: Ensemble, new: NewSamples, predictions: bool) -> Outcome:
    """Let an ensemble learn. Raises a `Problem` if it cannot take the samples."""
    try:
        samples = new.samples
        check_feature_kind(ensemble.champion, samples.X)
        return ensemble.learn(*samples.arguments, w=samples.weights, predictions=predictions)
    except SampleError as error:
        raise to_problem(error, new) from None


def to_problem(error: SampleError, new: NewSamples) -> Problem:
    """The problem of a sample, with a pointer into the body it arrived in."""
    index = "" if error.index is None else f"/{new.body_indexes[error.index]}"
    errors = [{"pointer": f"{index}/{error.field}", "detail": error.reason}]
    return Problem("invalid", f"{error}", errors)


def divergence_hint(t: int) -> str:
    """What to do about the sample at t, which would make the session diverge."""
    return (
        f"sample {t} of the session would make it leave the finite numbers; nothing of this body "
        "was learnt. Create the session again with a smaller eta0, or scale the samples"
    )


async def in_thread_if_long(body: bytes, work: Callable[..., R], *arguments: Any) -> R:
    """Do work on a body: inline if it is short, else in a thread that leaves the loop free."""
    if len(body) < INLINE_DECODE_BYTES:
        return work(*arguments)
    return await asyncio.to_thread(work, *arguments)


async def finish_even_if_cancelled(work: Coroutine[Any, Any, R]) -> R:
    """Wait for work that cannot be interrupted; a cancellation takes effect after it."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
