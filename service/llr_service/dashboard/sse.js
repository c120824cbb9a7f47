/**
 * Server-Sent Events read from a fetch: an EventSource cannot send a key.
 * Silence is told apart from quiet: the service writes a comment every 15 seconds.
 */

const SILENCE = 40_000;

/** Events `{id, event, data}` of a body; comments come as `{}`, a sign of life. */
export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await withinTime(reader.read());
      if (done) return;
      const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
      rest = blocks.pop();
      yield* blocks.map(parse);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parse(block) {
  const event = {};
  for (const line of block.split("\n")) {
    const [, field, value] = /^(\w*):? ?(.*)$/.exec(line) ?? [];
    if (field === "data") event.data = event.data === undefined ? value : `${event.data}\n${value}`;
    else if (field) event[field] = value;
  }
  return event;
}

function withinTime(promise) {
  let timer;
  const silence = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error("the stream went silent")), SILENCE);
  });
  return Promise.race([promise, silence]).finally(() => clearTimeout(timer));
}
