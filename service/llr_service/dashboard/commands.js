/** Commands for one session, as text. A key is named, never written out. */

const LONGEST = 12;

/** Learn, predict and watch with curl. */
export function curl({ name, sample, origin, keyed }) {
  const at = `${origin}/v1/sessions/${name}`;
  const key = keyed ? ' \\\n     -H "authorization: Bearer $LLR_KEY"' : "";
  const json = `${key} \\\n     -H 'content-type: application/json' \\\n     -d `;
  const { x } = sample;
  const written = (value) => (isLong(x) ? "@sample.json" : `'${JSON.stringify(value)}'`);
  return lines(
    isLong(x) && `# sample.json: {"x": [… ${x.length} numbers …], "y": ${sample.y}}`,
    "# learn",
    `curl ${at}/samples${json}${written(sample)}`,
    "# predict",
    `curl ${at}/predict${json}${x ? written({ x }) : "'{}'"}`,
    "# watch",
    `curl -N ${at}/events${key}`,
  );
}

/** Learn and predict with the SDK. */
export function python({ name, sample, origin, keyed }) {
  const key = keyed ? ', key=os.environ["LLR_KEY"]' : "";
  const { x, y } = sample;
  const row = isLong(x) ? `[0.5] * ${x.length}` : JSON.stringify(x ?? []).replace(/[,:]/g, "$& ");
  return lines(
    keyed && "import os\n",
    "from llr_client import Client\n",
    `session = Client("${origin}"${key}).session("${name}")`,
    `print(session.learn(${x ? `${row}, ${y}` : y}))`,
    `print(session.predict(${x ? row : ""}))`,
  );
}

function isLong(x) {
  return (x?.length ?? 0) > LONGEST;
}

function lines(...them) {
  return them.filter(Boolean).join("\n");
}
