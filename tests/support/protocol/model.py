"""What can follow what."""

from collections.abc import Iterator

from .copies import load, stale
from .promises import check, check_answer, check_stored
from .rules import Bounds, Rules
from .world import CREATED, GONE, Change, Producer, Replica, Sample, Stamp, State, World


class Model:
    """What can follow what."""

    def __init__(self, rules: Rules, bounds: Bounds) -> None:
        self.rules, self.bounds = rules, bounds
        none = tuple(Producer() for _ in bounds.samples)
        self.start = World((CREATED, 0), (), (Replica(),) * bounds.replicas, none)

    def next(self, world: World) -> Iterator[World]:
        """Every world that is one step away."""
        yield from self._send(world)
        for place, replica in enumerate(world.replicas):
            for request in replica.mail:
                yield self._take(world, place, request)
            if replica.queue:
                yield from self._arrive(world, place)
            if replica.told:
                yield self._hear(world, place)
            if world.crashes < self.bounds.crashes and replica != Replica(given=replica.given):
                yield self._crash(world, place)
        for place, changes in enumerate(world.late):
            left = world._replace(late=(*world.late[:place], *world.late[place + 1 :]))
            yield self._store(left.later(changes[1:]), changes[0])[0]
        yield from self._delete(world)
        yield from self._lose(world)

    def _send(self, world: World) -> Iterator[World]:
        """A producer sends its next sample, or gives up waiting and sends it again."""
        most = self._first(world) + self.bounds.sends
        for who, (acked, sends) in enumerate(world.producers):
            if acked < self.bounds.samples[who] and sends < most:
                for place, replica in enumerate(world.replicas):
                    mail = replica.mail | {((who, acked), sends + 1)}
                    sent = world.of(who, Producer(acked, sends + 1))
                    yield sent.at(place, replica._replace(mail=mail))

    def _take(self, world: World, place: int, request: tuple[Sample, int]) -> World:
        """A replica learns from a sample ahead of the store, or sees that it has."""
        replica = world.replicas[place]
        replica = replica._replace(mail=replica.mail - {request})
        sample, send = request
        if replica.copy is None and world.stamp == GONE:
            return world.at(place, replica)  # there is no such session
        copy = replica.copy or load(world, replica.given, self.rules)
        known = sample in copy.ahead and self.rules.dedupe
        if known and not stale(world, copy, self.rules):
            if copy.shown != copy.ahead and self.rules.ack == "after":  # what it has is not stored
                return world.at(place, replica._replace(copy=copy, mail=replica.mail | {request}))
            return self._ack(world.at(place, replica._replace(copy=copy)), sample, send, copy.ahead)
        if known or (sample[1] > sum(one[0] == sample[0] for one in copy.ahead)):
            mail = replica.mail | {request}  # it is behind: load, and look again
            return world.at(place, replica._replace(copy=None, mail=mail))
        return self._learn(world, place, replica._replace(copy=copy), sample, send)

    def _learn(
        self, world: World, place: int, replica: Replica, sample: Sample, send: int
    ) -> World:
        copy = replica.copy
        assert copy is not None
        number = replica.given if self.rules.unique or copy.last[0] == place else copy.born
        stamp, after = (place, number + 1), (*copy.ahead, sample)
        whole = len(after) > 1  # a snapshot stands for all before it
        change = Change(copy.last, stamp, sample, after, send, copy.born, whole, copy.session)
        shown = after if self.rules.publish == "before" else copy.shown
        copy = copy._replace(last=stamp, ahead=after, shown=shown)
        queue = (*replica.queue, change)
        world = world.at(place, replica._replace(copy=copy, queue=queue, given=stamp[1]))
        return self._ack(world, sample, send, None) if self.rules.ack == "before" else world

    def _arrive(self, world: World, place: int) -> Iterator[World]:
        """The first change of a replica reaches the store, or the line breaks under the first few.

        Those may be stored at once, later or never.
        """
        replica = world.replicas[place]
        change, *rest = replica.queue
        stored, outcome = self._store(world, change)
        told = (*replica.told, (change, outcome))
        yield stored.at(place, replica._replace(queue=tuple(rest), told=told))
        if world.breaks == self.bounds.breaks:
            return
        for n in range(1, len(replica.queue) + 1):
            sent, rest = replica.queue[:n], [*replica.queue[n:]]
            told = (*replica.told, *((one, "unknown") for one in sent))
            cut = world.at(place, replica._replace(queue=tuple(rest), told=told)).later(sent)
            yield cut._replace(breaks=world.breaks + 1)

    def _store(self, world: World, change: Change) -> tuple[World, str]:
        fits = {
            "stamp": change.was == world.stamp,
            "t": len(change.after) - 1 == len(world.stored),
            "nothing": True,
        }
        if not fits[self.rules.fence] or world.stamp == GONE:
            return world, "conflict"
        check_stored(world, change)
        stored = change.after if change.whole else (*world.stored, change.sample)
        past = (*world.past, world.stamp) if world.losses < self.bounds.losses else ()
        return world._replace(stamp=change.stamp, stored=stored, past=past), "written"

    def _hear(self, world: World, place: int) -> World:
        """A replica learns what became of a change."""
        replica = world.replicas[place]
        (change, outcome), told = replica.told[0], replica.told[1:]
        replica, copy = replica._replace(told=told), replica.copy
        same = copy is not None and copy.born == change.copy
        if outcome == "written":
            if copy is not None and same and len(change.after) > len(copy.shown):
                copy = copy._replace(shown=change.after, heard=change.stamp[1])
                replica = replica._replace(copy=copy)
            return self._ack(world.at(place, replica), change.sample, change.send, change.after)
        replica = replica._replace(copy=None if same else copy)
        if outcome == "conflict":  # nothing was stored: the same request, on the next copy
            mail = replica.mail | {(change.sample, change.send)}
            replica = replica._replace(mail=mail)
        return world.at(place, replica)

    def _crash(self, world: World, place: int) -> World:
        """All is gone but what was sent: that may still arrive, or not."""
        replica = world.replicas[place]
        empty = world.at(place, Replica(given=replica.given)).later(replica.queue)
        return empty._replace(crashes=world.crashes + 1)

    def _delete(self, world: World) -> Iterator[World]:
        """Somebody deletes the session, or creates it again."""
        if world.stamp == GONE:
            again = world.session if self.rules.told_apart else 0
            yield world._replace(stamp=(CREATED, again))
        elif world.session < self.bounds.deletes:
            gone = world._replace(session=world.session + 1)
            yield self._go_back(gone, GONE, (), ())

    def _lose(self, world: World) -> Iterator[World]:
        """The store is what it was before; its producers go on from there."""
        for t, stamp in enumerate(world.past):
            lost = world._replace(losses=world.losses + 1)
            yield self._go_back(lost, stamp, world.stored[:t], world.past[:t])

    def _go_back(self, world: World, stamp: Stamp, stored: State, past: tuple[Stamp, ...]) -> World:
        again = tuple(
            Producer(min(acked, sum(one == who for one, _ in stored)), self._first(world))
            for who, (acked, _) in enumerate(world.producers)
        )
        return world._replace(stamp=stamp, stored=stored, past=past, producers=again)

    def _ack(self, world: World, sample: Sample, send: int, state: State | None) -> World:
        """A producer hears that its sample is learnt, if it still listens, and what that made."""
        (who, number), producer = sample, world.producers[sample[0]]
        if (producer.acked, producer.sends) != (number, send):
            return world
        check_answer(world, state, sample)
        return world.of(who, Producer(number + 1, self._first(world)))

    def _first(self, world: World) -> int:
        """The number before that of the first try to send a sample, another one in each era."""
        return (self.bounds.sends + 1) * world.era


def search(rules: Rules, bounds: Bounds) -> int:
    """Look at every world that can be reached; returns how many. Raises `BrokenError`."""
    model = Model(rules, bounds)
    seen, layer = {model.start}, [model.start]
    while layer:
        following: list[World] = []
        for world in layer:
            check(world, rules)
            for one in model.next(world):
                if one not in seen:
                    seen.add(one)
                    following.append(one)
        layer = following
    return len(seen)
