"""What has to be so in every history: what is told was once true, and what was promised is kept.

Each rule takes the calls and what the store told, and returns the ways in which it is broken. The
first group needs the calls alone, so it fits any history with these members.
"""

from collections.abc import Iterator
from typing import Any

from llr_service.sessions.config import from_stored

import llr

from .clients import ETA, SECONDS, row_of
from .history import Call, History, Told
from .recorder import Line, Truth

CHANGES_NAME = {"create", "restore", "fork", "delete"}
MAKES = CHANGES_NAME - {"delete"}
TIME_PASSES = ("learning", "idle")
"""What time alone changes in an answer, its activity: a session that learns is idle later."""


def broken(history: History, truth: Truth) -> list[str]:
    """All that is wrong with a run."""
    found = [f"store: {fault}" for fault in truth.faults]
    found += failures(history)
    for name in sorted({call.name for call in history.calls}):
        calls = history.of(name)
        found += [f"{name}: {each}" for each in _of_name(calls)]
    found += samples_are_kept(history, truth)
    found += states_are_true(history, truth)
    found += sums(history, truth)
    return found


def _of_name(calls: list[Call]) -> Iterator[str]:
    yield from no_read_is_older(calls)
    yield from sessions_are_kept(calls)
    yield from configs_are_kept(calls)
    yield from ids_are_kept(calls)
    yield from teams_are_kept(calls)
    yield from teams_do_not_go_back(calls)
    yield from nothing_is_told_early(calls)
    yield from restarts_change_nothing(calls)


def failures(history: History) -> Iterator[str]:
    """No request fails by a fault of the service's own."""
    for call in history.calls:
        if call.status is not None and call.status >= 500 and call.status not in (503, 507):
            yield f"{call.kind} of {call.name} was answered {call.status}: {call.answer}"
        if call.final and call.status is not None and call.status >= 500:
            yield f"{call.name} is not there with all at rest: {call.status} {call.answer}"
        if call.final and call.status is None:
            yield f"a look at {call.name} has no answer"


def between(calls: list[Call], first: Call, last: Call, kinds: set[str]) -> list[Call]:
    """Calls that may have had their effect after one began and before another ended.

    A call that was refused had none; one without an answer may have its effect at any time later.
    """
    return [
        call
        for call in calls
        if call.kind in kinds
        and call not in (first, last)
        and not call.refused
        and not (call.status is not None and call.before(first))
        and (last.told_by is None or call.asked < last.told_by)
    ]


def no_read_is_older(calls: list[Call]) -> Iterator[str]:
    """What is read is not older than anything that was answered before."""
    told = [call for call in calls if call.ok and "t" in call.answer and call.kind != "predict"]
    for i, call in enumerate(told):
        for before in told[:i]:
            was, now = before.answer["t"], call.answer["t"]
            older = before.before(call) and was > now
            if older and not between(calls, before, call, CHANGES_NAME):
                yield f"{before.kind} at {was}, then {call.kind} at {now}"
            same = "next_seq" in call.answer and before.about == call.about
            if (
                same
                and before.before(call)
                and before.answer.get("next_seq", 0) > (call.answer["next_seq"])
                and not between(calls, before, call, CHANGES_NAME)
            ):
                yield f"{call.about} was at {before.answer['next_seq']}, then at less"


def sessions_are_kept(calls: list[Call]) -> Iterator[str]:
    """A session that was created is there until it is deleted, and not after that."""
    for before in calls:
        if not before.ok or before.kind not in CHANGES_NAME:
            continue
        for call in calls:
            if not before.before(call) or call.kind in MAKES or call.status is None:
                continue
            if between(calls, before, call, CHANGES_NAME):
                continue
            missing = call.problem == "session-not-found"
            if before.kind == "delete" and not missing and call.status < 500:
                if call.refused and call.status != 404:
                    continue  # refused for what it is, before the session was looked for
                yield f"deleted, then {call.kind} was answered {call.status}"
            if before.kind in MAKES and missing:
                yield f"{before.kind} was acknowledged, then {call.kind} found no session"


def configs_are_kept(calls: list[Call]) -> Iterator[str]:
    """A look shows the session that has the name, not one that had it before."""
    made = [call for call in calls if call.kind == "create"]
    for look in calls:
        shown = _tag(look)
        if not shown or look.kind not in ("get", "create"):
            continue
        for new in made:
            if new.status != 201 or new.about == shown or not new.before(look):
                continue
            if all(old.before(new) for old in made if old.about == shown):
                yield f"{look.kind} shows the session before the one that was created"


def _tag(call: Call) -> str:
    """What tells a session from the others of its name, empty if an answer does not show it."""
    config = call.answer.get("config") if call.ok else None
    return repr(config["label_seconds"]) if config and config.get("label_seconds") else ""


def ids_are_kept(calls: list[Call]) -> Iterator[str]:
    """An x that was kept is there until it expires."""
    for before in calls:
        if before.kind != "predict" or not before.ok:
            continue
        for call in calls:
            if call.kind != "label" or call.about != before.about or not before.before(call):
                continue
            if call.at[-1] - before.at[0] >= SECONDS:
                continue
            missing = call.problem == "id-not-found"
            if missing and not between(calls, before, call, CHANGES_NAME):
                yield f"{call.about} was kept, and its label found nothing"


def teams_are_kept(calls: list[Call]) -> Iterator[str]:
    """A team is as it was made: by what was acknowledged, and by nothing that was refused."""
    looks = [call for call in calls if call.kind in ("get", "promote", "add") and call.ok]
    copied = any(call.kind in ("restore", "fork") for call in calls)  # with another's team
    for look in () if copied else looks:
        champion, beside = look.answer["champion"], set(look.answer["shadows"])
        for shadow in {*beside, *([champion] if champion else [])}:
            if shadow.startswith("w") and not _made(calls, look, "add", shadow):
                yield f"shadow {shadow} is there, and was never added"
        if champion and not _made(calls, look, "promote", champion):
            yield f"{champion} is the champion, and was never promoted"
    for before in calls:
        if before.ok and before.kind in ("promote", "add"):
            yield from _stays(before, calls, looks)


def _made(calls: list[Call], look: Call, kind: str, shadow: str) -> bool:
    """Whether a call that was not refused may have made it so."""
    return any(
        call.kind == kind
        and call.about == shadow
        and not call.refused
        and (look.told_by is None or call.asked <= look.told_by)
        for call in calls
    )


def _stays(before: Call, calls: list[Call], looks: list[Call]) -> Iterator[str]:
    undoing = {"promote"} if before.kind == "promote" else {"remove"}
    for look in looks:
        if not before.before(look) or between(calls, before, look, CHANGES_NAME):
            continue
        undone = between(calls, before, look, undoing)
        if before.kind == "promote":
            champion = look.answer["champion"]
            if look.kind != "promote" and champion != before.about and not undone:
                yield f"{before.about} was promoted, and {champion} is the champion"
            continue
        there = {*look.answer["shadows"], look.answer["champion"]}
        if before.about not in there and all(call.about != before.about for call in undone):
            yield f"{before.about} was added, and is not there"


def teams_do_not_go_back(calls: list[Call]) -> Iterator[str]:
    """The shadows that an answer shows are there until a call that was not refused changes them."""
    shows = ("get", "learn", "label", "promote", "add", "remove")
    changing = CHANGES_NAME | {"add", "promote", "remove"}
    looks = [call for call in calls if call.ok and call.kind in shows and call.answer.get("theta")]
    for i, call in enumerate(looks):
        for before in looks[:i]:
            was, now = ({*(one.answer.get("shadows") or ())} for one in (before, call))
            if was == now or not before.before(call):
                continue
            if call.kind not in changing and not between(calls, before, call, changing):
                yield f"{before.kind} showed {sorted(was)}, then {call.kind} {sorted(now)}"


def nothing_is_told_early(calls: list[Call]) -> Iterator[str]:
    """Nothing is told that is not durable."""
    for call in calls:
        if call.ok and call.answer.get("next_seq", 0) > call.durable_next:
            yield f"{call.about} was told {call.answer['next_seq']}, {call.durable_next} is stored"
        if call.problem == "sequence-gap" and call.answer["expected"] > call.durable_next:
            yield f"{call.producer} was told to go on from {call.answer['expected']}, not stored"
        if call.problem == "state-changed" and call.answer["t"] > call.durable:
            yield f"{call.kind} was refused at t = {call.answer['t']}, {call.durable} were stored"
        for told in call.told():
            if told.t > call.durable:
                yield f"{call.kind} told t = {told.t}, and {call.durable} were stored"


def restarts_change_nothing(calls: list[Call]) -> Iterator[str]:
    """With all at rest a process finds what the one before it told."""
    looks: dict[tuple[int, str], Call] = {(c.final, c.about): c for c in calls if c.final}
    for (final, about), first in looks.items():
        second = looks.get((final + 1, about))
        if first.answer.get("kept") or _replays(first):
            continue  # it expires meanwhile and may be learnt, or it still learns
        if second is None or second.status != first.status:
            at = ["status"] if second is not None else []
        else:
            one, other = first.answer, second.answer
            at = [key for key in one if one[key] != other.get(key)]
            if (one.get("activity"), other.get("activity")) == TIME_PASSES:
                at.remove("activity")
        if at:
            yield f"another state after a restart: {', '.join(at)}"


def samples_are_kept(history: History, truth: Truth) -> Iterator[str]:
    """Acknowledged samples are there, at their place, once; refused ones are not there."""
    places = {line.session: _places(line) for line in truth.lines.values()}
    for session, known in places.items():
        name = truth.lines[session].name
        twice = [n for n, at in known.items() if len(at) > 1 and not _was_forgotten(history, n)]
        yield from (f"{name} learnt sample {n} twice" for n in twice)
    possible = set[int]()
    forgotten = {n for known in places.values() for n in known if _was_forgotten(history, n)}
    for call in history.calls:
        if call.kind == "predict":
            possible.add(int(call.about[1:]))  # it may be learnt when it expires
        elif not call.refused:
            possible |= {*call.samples}
        if call.kind in ("learn", "label") and call.ok:
            yield from _is_kept(call, truth, places, forgotten)
        if call.kind == "labels" and call.ok and call.answer["accepted"] == len(call.samples):
            lines = [line for line in truth.lines.values() if line.name == call.name]
            if not any(None in x.samples or {*call.samples} <= {*places[x.session]} for x in lines):
                yield f"{call.name} learnt the labels {call.samples}, and no session has them"
    for session, known in places.items():
        for number in {*known} - possible:
            yield f"{truth.lines[session].name} learnt sample {number}, which was refused"


def _was_forgotten(history: History, number: int) -> bool:
    """Whether an id was predicted again after the session had forgotten it.

    An id is remembered for `label_seconds` after its prediction, and as long after its label. A
    prediction that is sent again after that stores its x like a new one, so its label, or its
    expiry, is learnt again. A prediction that was cut may still be served later.
    """
    calls = [c for c in history.calls if c.kind == "predict" and c.about == f"i{number}"]
    if len(calls) < 2:
        return False
    last = max((call.at[-1] for call in history.calls), default=0.0)
    ends = [last if call.status is None else call.at[-1] for call in calls]
    return any(end - calls[0].at[0] >= SECONDS for end in ends)


Places = dict[int, list[int]]
"""For each sample, at which t it was learnt."""


def _places(line: Line) -> Places:
    found = Places()
    for i, sample in enumerate(line.samples):
        if sample is not None:
            found.setdefault(sample[0], []).append(line.base + i)
    return found


def _is_kept(
    call: Call, truth: Truth, places: dict[int, Places], forgotten: set[int]
) -> Iterator[str]:
    """One session has all the samples of a call, those that it accepted where it told."""
    lines = [line for line in truth.lines.values() if line.name == call.name]
    if not any(_has(line, places[line.session], call, forgotten) for line in lines):
        told = f"{call.answer['accepted']} of {call.samples} at t = {call.answer['t']}"
        yield f"{call.name} acknowledged {told}, and no session has them so"


def _has(line: Line, known: Places, call: Call, forgotten: set[int]) -> bool:
    """Whether a session has the samples of a call.

    Two things are not known: a sample whose place is in a snapshot without a log entry, and one
    that a copy was created with, which its producer's number then covers.
    """
    accepted, t, n = call.answer["accepted"], call.answer["t"], len(call.samples)
    first = int(call.about) if call.producer else 0
    copied = line.producers.get(call.producer or "", 0) - first
    silent = {line.base + i for i, sample in enumerate(line.samples) if sample is None}
    unseen = any(at < t for at in silent)
    known_before = [] if call.end else call.samples[: n - accepted]  # or it was skipped
    for i, number in enumerate(known_before):
        if not (i < copied or unseen or any(at < t for at in known.get(number, ()))):
            return False
    new = call.samples[n - accepted :]
    if call.streamed:  # others may come between its blocks, and before one that was known
        if not unseen and any(number not in known for number in new):
            return False
        found = [
            at
            for number in new
            for at in known.get(number, ())
            if number not in forgotten or at >= t - accepted  # it was learnt before that, too
        ]
        return found == sorted(found) and all(at < t for at in found)
    return all(
        at in silent or at in known.get(number, ())
        for at, number in zip(range(t - accepted, t), new, strict=True)
    )


def states_are_true(history: History, truth: Truth) -> Iterator[str]:
    """One session, t and team: one theta; and that of the samples in their order."""
    lines = list(truth.lines.values())
    thetas = {line.session: _thetas(line) for line in lines}
    told = dict[tuple[int, int, Any], set[tuple[float, ...]]]()
    for call in history.calls:
        here = [line for line in lines if line.name == call.name]
        for state in call.told():
            if len(call.sessions) == 1:
                [session] = call.sessions
                for team in (sorted(state.beside), state.version):
                    if team is not None:
                        told.setdefault((session, state.t, repr(team)), set()).add(state.theta)
            first = all(name.startswith("w") for name in state.beside)
            if not first or any(line.base for line in here):
                continue  # its champion is not the first one, or its first samples are not known
            if not any(_fits(state, thetas[line.session]) for line in here):
                yield f"{call.kind} of {call.name} told a theta at t = {state.t} that never was"
    for (session, t, team), several in told.items():
        if len(several) > 1:
            name = truth.lines[session].name
            yield f"{name} at t = {t} with the team {team}: {len(several)} thetas"


def _fits(state: Told, thetas: list[tuple[float, ...]]) -> bool:
    return state.t >= len(thetas) or thetas[state.t] == state.theta


def _thetas(line: Line) -> list[tuple[float, ...]]:
    """Theta of the first champion after each sample, as far as they are known."""
    learner = llr.Learner("linear", 2, algorithm="sg", eta0=ETA, regret="off")
    found = [tuple(learner.theta.tolist())]
    for sample in line.samples if line.base == 0 else ():
        if sample is None:
            break
        learner.learn(row_of(sample[0]), sample[1], w=None if sample[2] == 1.0 else sample[2])
        found.append(tuple(learner.theta.tolist()))
    return found


def sums(history: History, truth: Truth) -> Iterator[str]:
    """t is the sum of what its producers sent, the labels that came, and the rest."""
    numbered = {n: call.producer for call in history.calls if call.producer for n in call.samples}
    for call in history.calls:
        if not call.final or not call.ok:
            continue
        lines = [x for x in truth.lines.values() if x.name == call.name and not x.deleted]
        if len(lines) != 1:
            yield f"{call.name}: {len(lines)} sessions have the name"
            continue
        line = lines[0]
        if call.answer["kept"] or _replays(call):
            continue  # it expires later and may be learnt, or it still learns
        if call.answer["t"] != line.t:
            yield f"{call.name} is at {call.answer['t']}, and {line.t} are stored"
        if call.about and not call.about.endswith("s") and None not in line.samples:
            source = from_stored(line.config)[1]
            replayed = source.samples if source else 0
            new = line.samples[replayed:]
            own = [one for one in new if one and numbered.get(one[0]) == call.about]
            expected = line.producers.get(call.about, 0) + len(own)
            if call.answer["next_seq"] != expected:
                yield f"{call.name}: {call.about} is at {call.answer['next_seq']}, not {expected}"


def _replays(call: Call) -> bool:
    """Whether a session has not learnt all that it was forked for."""
    status = call.answer.get("relearning")
    return bool(status) and status["done"] < status["of"]
