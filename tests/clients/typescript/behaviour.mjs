// Uses every call of the client against a service, and prints what test_typescript.py compares.
import { Client, Problem } from "llr-client";

const url = process.argv[2];
const client = new Client(url, { timeout: 5 });
const demo = client.session("demo");
const created = await demo.create({ model: "linear", dim: 2 });
const first = await demo.learn({ x: [1, 2], y: 3 });
const several = await Promise.all([
  demo.learn([{ x: [1, 2], y: 3 }, { x: [2, 1], y: 0, w: 2 }]),
  demo.learn({ x: [0, 1], y: 1 }),
]);
const predicted = await demo.predict([1, 2]);
const rows = await demo.predict([[1, 2], [2, 1]], { interval: 0.9 });

await demo.predict([[1, 2], [2, 2]], { id: ["a", "b"] });
const labelled = await demo.label({ id: "a", y: 1 });
const labels = await demo.label([{ id: "b", y: 2, w: 0.5 }, { id: "a", y: 1 }]);
const past = await demo.history(10, [1]);
const twin = await (await demo.fork("twin", { algorithm: "sg/ag" })).state();
await client.session("twin").delete();

// a service that restarts answers 503 behind a proxy, then 502, and is asked again
const answers = [503, 502, 504, 507];
const restarting = async (input, init) => {
  const status = answers.shift();
  return status ? new Response("{}", { status, headers: { "retry-after": "0" } }) : fetch(input, init);
};
const patient = await new Client(url, { fetch: restarting, timeout: 5 }).session("demo").state();
// it says to wait for longer than the call may take: the call ends at once
const asked = async () => new Response("{}", { status: 429, headers: { "retry-after": "9" } });
const limited = await new Client(url, { fetch: asked, timeout: 5 }).sessions().catch((error) => error);

// the first answer to each request is lost after the service has learnt
let lost = 0;
const seen = new Set();
const lossy = async (input, init) => {
  const answer = await fetch(input, init);
  if (init.method === "POST" && !seen.has(input)) {
    seen.add(input);
    lost += 1;
    throw new TypeError("the connection was closed");
  }
  return answer;
};
const retried = new Client(url, { fetch: lossy, timeout: 5 }).session("demo");
const again = await retried.learn({ x: [1, 1], y: 2 });

// no retry is left: the call fails, the sample is learnt, and the next call goes on behind it
const impatient = new Client(url, { fetch: lossy, timeout: 0.05 }).session("demo");
const failed = await impatient.learn({ x: [1, 1], y: 2 }).catch((error) => error.name);
seen.add([...seen].at(-1).replace("seq=0", "seq=1"));
const behind = await impatient.learn({ x: [3, 1], y: 2 });

const refused = await demo.learn({ x: [1], y: 3 }).catch((error) => error);
let event = null;
for await (const one of demo.events()) {
  event = one;
  break;
}
const listed = await client.sessions();
await demo.delete();
const gone = await demo.state().catch((error) => error);
console.log(JSON.stringify({
  created: created.t, first: first.t, several: several.map((one) => one.t),
  predicted: typeof predicted.predictions, rows: rows.predictions.length,
  labelled: [labelled.t, labels.t, labels.accepted],
  past: [past.coordinates, past.t.at(-1)], twin: [twin.name, twin.algorithm, twin.t],
  patient: patient.t, limited: limited.status,
  lost, again: [again.t, again.duplicate], failed, behind: [behind.t, behind.duplicate],
  refused: [refused instanceof Problem, refused.status, refused.type],
  event: [event.id, event.data.t], listed: listed.sessions.map((one) => one.name),
  gone: [gone.status, gone.type],
}));
