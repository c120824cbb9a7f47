"""What more clients do: weights, labels in bulk, samples with numbers of their own, echoes."""

import json
from typing import Any

from .clients import JSON, OPERATIONS, Client, Recipe, Sent, create, label_of, look, predict, row_of
from .history import Call
from .wire import Request


def weight_of(number: int) -> float:
    """The weight of a sample, where samples have one."""
    return (1 + number % 4) / 2


def weighted(client: Client, name: str) -> Recipe | None:
    """Samples that count more than one, or less."""
    samples = [client.numbers.new() for _ in range(client.lot.randrange(1, 4))]
    body = json.dumps(
        [{"x": row_of(one), "y": label_of(one), "w": weight_of(one)} for one in samples]
    ).encode()
    return lambda: (
        Request("POST", f"/v1/sessions/{name}/samples", body, JSON),
        Call("learn", name, 0, [*samples]),
    )


def sparse(client: Client, name: str) -> Recipe | None:
    """Samples of a producer with numbers of their own, some left out; sometimes with `next`."""
    lot, place, who = client.lot, client.place(f"{name} sparse"), f"{client.producer}s"
    start = max(0, place.next - lot.choice((0, 0, 1, 3)))
    seqs = sorted(lot.sample(range(start, start + 8), lot.randrange(1, 5)))
    samples = [client.numbers.of(who, name, place.epoch, seq) for seq in seqs]
    rows = zip(seqs, samples, strict=True)
    body = json.dumps([{"x": row_of(n), "y": label_of(n), "seq": s} for s, n in rows]).encode()
    end = seqs[-1] + 1 + lot.choice((0, 0, 2))
    after = f"&next={end}" if end > seqs[-1] + 1 else ""
    target = f"/v1/sessions/{name}/samples?producer={who}&seq={start}{after}"

    def recipe() -> Sent:
        call = Call("learn", name, 0, [*samples], f"{start}", who, end=end)
        return Request("POST", target, body, JSON), call

    return recipe


def get_sparse(client: Client, name: str) -> Recipe | None:
    """A look at where the producer of samples with numbers of their own is."""
    return look(name, f"{client.producer}s")


def labels(client: Client, name: str) -> Recipe | None:
    """Several labels at once, of ids that are known to wait or not."""
    known = client.ids.get(name, [])[-4:]
    if len(known) < 2:
        return predict(client, name)
    body = json.dumps([{"id": f"i{one}", "y": label_of(one)} for one in known]).encode()
    return lambda: (
        Request("POST", f"/v1/sessions/{name}/labels", body, JSON),
        Call("labels", name, 0, [*known]),
    )


def without_dim(client: Client, name: str) -> Recipe | None:
    """A session that learns its dim from the first sample."""
    made = create(client, name)
    if made is None:
        return None
    request, call = made()
    config: dict[str, Any] = json.loads(request.pieces[0])
    del config["dim"]
    body, about = json.dumps(config).encode(), call.about
    return lambda: (
        Request("PUT", f"/v1/sessions/{name}", body, JSON),
        Call("create", name, 0, about=about),
    )


def echo(client: Client, name: str) -> Recipe | None:
    """What somebody has just asked for, asked for again, whether it was answered or not."""
    recent = [one for one in client.history.of(name)[-8:] if one.kind in ("predict", "promote")]
    if not recent:
        return predict(client, name)
    last = client.lot.choice(recent)
    about = last.about
    if last.kind == "predict":
        number = int(about[1:])
        client.ids.setdefault(name, []).append(number)
        body, path = {"x": row_of(number), "id": about}, "predict"
    else:
        body, path = {"name": about}, "promote"
    sent = json.dumps(body).encode()
    return lambda: (
        Request("POST", f"/v1/sessions/{name}/{path}", sent, JSON),
        Call(last.kind, name, 0, about=about),
    )


MORE = {
    "weighted": weighted,
    "sparse": sparse,
    "get_sparse": get_sparse,
    "labels": labels,
    "without_dim": without_dim,
    "echo": echo,
}
OPERATIONS |= MORE
