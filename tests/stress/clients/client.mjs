// Creates a session, learns, predicts and reads an event, as any Node program would.
const session = process.argv[2];

async function ask(method, path, body, status) {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(session + path, { method, headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (answer.status !== status) throw new Error(`${method}${path}: ${answer.status} ${text}`);
  return text;
}

await ask("PUT", "", { model: "linear", dim: 2 }, 201);
for (let i = 0; i < 3; i++) await ask("POST", "/samples", { x: [1, 2], y: 3 }, 200);
process.stdout.write(await ask("POST", "/predict", { x: [1, 2] }, 200));
let said = "";
for await (const part of (await fetch(`${session}/events`)).body) {
  said += new TextDecoder().decode(part);
  const found = said.match(/^id: \d+$/m);
  if (found) {
    console.log(found[0]);
    process.exit(0);
  }
}
