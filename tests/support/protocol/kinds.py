"""All kinds of changes on both engines, as a small model: samples, kept x, labels, promotions.

`model` has samples alone, and looks at copies and versions closely. Here a change may leave t as it
is, changes wait for the group before theirs, and a group fails as a whole: before it is stored, or
after that without an answer. The engine `single` has one replica, which never asks for a version;
`shared` has several, which compare their copy before they say that something is there already.
Whether a change may be stored is asked of the engines' own `find_conflict`. Lines that break, and
changes that arrive when their sender has gone on, are in `model`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from llr_service.stores.store import AppendSamples, UpdatePending, VersionCheck, WriteSnapshot
from llr_service.stores.validation import Position, find_conflict

from .promises import BrokenError

Op = tuple[str, int]
"""What is asked for: a kind, and the number of a sample."""
KEEP, LABEL, PROMOTE = ("keep", 0), ("label", 0), ("promote", 0)
State = tuple[Op, ...]
MOVES_T = ("sample", "label")


@dataclass(frozen=True)
class Case:
    """What may happen, and which precautions are taken.

    Attributes:
        ops: what clients ask for; the numbers of samples may have holes.
        sends: how often each.
        replicas: how many there are; one does not compare versions.
        failures: of groups.
        evictions: of copies.
        versioned: whether a change that leaves t as it is makes a version.
        counted: whether the next number is a count of samples and not the last one and one more.
        discards: whether a copy goes after its first failure.
    """

    ops: tuple[Op, ...]
    sends: int = 2
    replicas: int = 1
    failures: int = 1
    evictions: int = 1
    versioned: bool = True
    counted: bool = False
    discards: bool = True


class Change(NamedTuple):
    """A change on its way: what it is, upon which t and version, and by which copy."""

    op: Op
    t: int
    check: VersionCheck
    copy: int
    serial: int
    state: State


class Copy(NamedTuple):
    """The session in memory: all it has learnt, what it shows, and its last version."""

    born: int
    state: State
    shown: State
    last: int


class Replica(NamedTuple):
    """A copy or none, requests, changes that wait, the group that is written, what came of it.

    `waits` are requests for what is there already: each waits for a change.
    """

    copy: Copy | None = None
    mail: frozenset[Op] = frozenset()
    waiting: tuple[Change, ...] = ()
    flight: tuple[Change, ...] = ()
    told: tuple[tuple[Change, str], ...] = ()
    waits: frozenset[tuple[Op, int]] = frozenset()


class World(NamedTuple):
    """Everything."""

    position: Position
    stored: State
    replicas: tuple[Replica, ...]
    sent: tuple[int, ...]
    acked: frozenset[Op] = frozenset()
    given: int = 0
    failures: int = 0
    evictions: int = 0

    def at(self, place: int, replica: Replica) -> "World":
        """The same with another replica."""
        every = (*self.replicas[:place], replica, *self.replicas[place + 1 :])
        return self._replace(replicas=every)


def _t(state: State) -> int:
    return sum(kind in MOVES_T for kind, _ in state)


class Model:
    """What can follow what."""

    def __init__(self, case: Case) -> None:
        self.case = case
        none = (Replica(),) * case.replicas
        self.start = World(Position(0, 0), (), none, (0,) * len(case.ops))

    def next(self, world: World) -> Iterator[World]:
        """Every world that is one step away."""
        for number, op in enumerate(self.case.ops):
            before = {one for one in self.case.ops[:number] if one[0] == op[0] == "sample"}
            waits = op in world.acked or not before <= world.acked
            if world.sent[number] < self.case.sends and not waits:
                sent = (*world.sent[:number], world.sent[number] + 1, *world.sent[number + 1 :])
                for place, replica in enumerate(world.replicas):
                    mail = replica._replace(mail=replica.mail | {op})
                    yield world._replace(sent=sent).at(place, mail)
        for place, replica in enumerate(world.replicas):
            for op in sorted(replica.mail):
                yield from self._take(world, place, op)
            if replica.flight and not replica.told:
                yield from self._write(world, place)
            if replica.told:
                yield self._hear(world, place)
            idle = not (replica.waiting or replica.flight or replica.waits)
            if replica.copy and idle and world.evictions < self.case.evictions:
                gone = world.at(place, replica._replace(copy=None))
                yield gone._replace(evictions=world.evictions + 1)

    def _take(self, world: World, place: int, op: Op) -> Iterator[World]:
        """A replica works on a request, on a copy that it loads if it has none."""
        replica = world.replicas[place]
        if replica.copy is None and (replica.flight or replica.waiting):
            return  # the session is loaded after what was queued before that
        given = world.given + (replica.copy is None)
        copy = replica.copy or Copy(given, world.stored, world.stored, world.position.version)
        left = replica._replace(copy=copy, mail=replica.mail - {op})
        known = self._known(op, copy.state)
        if not known and (op != LABEL or KEEP in copy.state):
            yield self._change(world._replace(given=given + 1), place, left, op)
            return
        if self._behind(world, copy):
            yield world.at(place, replica._replace(copy=None))
            return
        changes = (*replica.flight, *replica.waiting)
        last = changes[-1] if changes else None
        if known and last is not None:
            left = left._replace(waits=left.waits | {(op, last.serial)})
            yield world._replace(given=given).at(place, left)
        elif known:
            yield self._ack(world._replace(given=given).at(place, left), op)
        elif last is None:
            if KEEP in world.acked and LABEL not in world.stored:
                raise BrokenError(f"x was kept, and its label finds nothing in {copy.state}")
            yield world._replace(given=given).at(place, left)

    def _known(self, op: Op, state: State) -> bool:
        if op[0] != "sample":
            return op in state
        numbers = [number for kind, number in state if kind == "sample"]
        following = len(numbers) if self.case.counted else max(numbers, default=-1) + 1
        return op[1] < following

    def _behind(self, world: World, copy: Copy) -> bool:
        """Whether the store has a change of another replica; one that is alone does not ask."""
        if self.case.replicas == 1:
            return False
        return world.stored != copy.state[: len(world.stored)]

    def _change(self, world: World, place: int, replica: Replica, op: Op) -> World:
        copy = replica.copy
        assert copy is not None
        makes = self.case.versioned or op[0] in MOVES_T
        check = VersionCheck(copy.last, world.given if makes else copy.last)
        state = (*copy.state, op)
        change = Change(op, _t(copy.state), check, copy.born, world.given, state)
        replica = replica._replace(
            copy=copy._replace(state=state, last=check.new), waiting=(*replica.waiting, change)
        )
        return world.at(place, _started(replica))

    def _write(self, world: World, place: int) -> Iterator[World]:
        """The group is stored; or it fails before that, or after it without an answer."""
        replica = world.replicas[place]
        stored, outcomes = world, list[tuple[Change, str]]()
        for change in replica.flight:
            if find_conflict(_stored(change), stored.position) is not None:
                outcomes.append((change, "conflict"))
                continue
            if change.state[:-1] != stored.stored:
                raise BrokenError(f"{change.state} stored upon {stored.stored}")
            position = Position(_t(change.state), change.check.new)
            stored = stored._replace(position=position, stored=change.state)
            outcomes.append((change, "written"))
        yield stored.at(place, replica._replace(told=tuple(outcomes)))
        if world.failures < self.case.failures:
            failed = replica._replace(told=tuple((one, "failed") for one in replica.flight))
            for after in (world, stored):
                yield after._replace(failures=world.failures + 1).at(place, failed)

    def _hear(self, world: World, place: int) -> World:
        """The next group goes; then the outcomes of this one are told."""
        replica = world.replicas[place]
        told, replica = replica.told, _started(replica._replace(told=(), flight=()))
        for change, outcome in told:
            world, replica = self._outcome(world, replica, change, outcome)
        return world.at(place, replica)

    def _outcome(
        self, world: World, replica: Replica, change: Change, outcome: str
    ) -> tuple[World, Replica]:
        copy = replica.copy
        same = copy is not None and copy.born == change.copy
        asked = {op for op, serial in replica.waits if serial == change.serial} | {change.op}
        waits = frozenset(one for one in replica.waits if one[1] != change.serial)
        replica = replica._replace(waits=waits)
        if outcome == "written":
            if copy is not None and same:
                replica = replica._replace(copy=copy._replace(shown=change.state))
            for op in sorted(asked):
                world = self._ack(world, op)
            return world, replica
        if same and self.case.discards:
            replica = replica._replace(copy=None)
        again = frozenset(asked) if outcome == "conflict" else frozenset[Op]()
        return world, replica._replace(mail=replica.mail | again)

    def _ack(self, world: World, op: Op) -> World:
        if op not in world.stored:
            raise BrokenError(f"{op} is acknowledged, and {world.stored} is stored")
        return world._replace(acked=world.acked | {op})


def _started(replica: Replica) -> Replica:
    """The changes that wait are the next group, if none is on its way."""
    if replica.flight:
        return replica
    return replica._replace(flight=replica.waiting, waiting=())


def _stored(change: Change) -> AppendSamples | UpdatePending | WriteSnapshot:
    """A change as an engine gets it."""
    kind, t, check = change.op[0], change.t, change.check
    if kind == "keep":
        return UpdatePending(1, t, (), check)
    if kind == "promote":
        return WriteSnapshot(1, t, 0, b"", check=check)
    return AppendSamples(1, t, 1, b"", check=check)


def check(case: Case, world: World) -> None:
    """Raise if a promise is broken in this world."""
    if len(set(world.stored)) != len(world.stored):
        raise BrokenError(f"applied twice: {world.stored}")
    if missing := world.acked - {*world.stored}:
        raise BrokenError(f"{missing} were acknowledged, and {world.stored} is stored")
    for replica in world.replicas:
        copy = replica.copy
        if copy is None or case.replicas > 1 or replica.told:
            continue
        if copy.shown != world.stored[: len(copy.shown)]:
            raise BrokenError(f"shown {copy.shown}, stored {world.stored}")


def search(case: Case) -> int:
    """Look at every world that can be reached; returns how many. Raises `BrokenError`."""
    model = Model(case)
    seen, layer = {model.start}, [model.start]
    while layer:
        following = list[World]()
        for world in layer:
            check(case, world)
            for one in model.next(world):
                if one not in seen:
                    seen.add(one)
                    following.append(one)
        layer = following
    return len(seen)


SPARSE = (("sample", 0), ("sample", 3))
CASES: dict[str, Case] = {
    "single": Case((("sample", 0), KEEP, PROMOTE)),
    "single, labels": Case((KEEP, LABEL, ("sample", 0)), evictions=0),
    "single, numbers with holes": Case((*SPARSE, KEEP)),
    "shared": Case((("sample", 0), KEEP), replicas=2, evictions=0),
    "shared, promotions": Case((PROMOTE, KEEP), replicas=2, evictions=0),
}
"""What is searched, by a name."""
SHARP = Case((KEEP, LABEL, ("sample", 0)), evictions=0)
BROKEN: dict[str, Case] = {
    "no version when t stays": Case(SHARP.ops, evictions=0, versioned=False),
    "no version when t stays, promotions": Case(
        (PROMOTE, ("sample", 0)), evictions=0, versioned=False
    ),
    "no version when t stays, shared": Case((KEEP, PROMOTE), replicas=2, versioned=False),
    "a copy goes on after its first failure": Case(SHARP.ops, evictions=0, discards=False),
    "the next number is a count": Case(SPARSE, counted=True),
}
"""The same without one of the precautions: a promise has to be broken."""
