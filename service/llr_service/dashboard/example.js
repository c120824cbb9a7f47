/** Samples to begin with: made up, but such as a session's model takes. */

const [FEW, LINES] = [2, 20];

const CITIES = ["Rome", "Oslo", "Lima"];

/**
 * Lines that a model takes: CSV, y last, or JSON where features have names. Another `phase` has
 * other true parameters: the data changed.
 */
export function exampleLines(model, dim, options = {}, named = false, phase = 0) {
  if (named) return namedLines(model, options, phase);
  const width = model.features ? dim ?? FEW : 0;
  const slopes = Array.from({ length: width }, (_, k) => Math.sin(2.4 * (k + 1) + phase));
  return Array.from({ length: LINES }, () => {
    const x = slopes.map(() => round(gaussian()));
    const score = slopes.reduce((sum, slope, k) => sum + slope * x[k], 0);
    return [...x, label(model, score, options)].join(", ");
  }).join("\n");
}

function namedLines(model, options, phase) {
  return Array.from({ length: LINES }, () => {
    const [age, place] = [round(gaussian()), Math.floor(Math.random() * CITIES.length)];
    const fresh = Math.random() < 0.5;
    const score = Math.cos(phase) * age - place / 2 + (fresh ? Math.cos(phase / 2) : 0);
    const y = label(model, score, options);
    return JSON.stringify({ x: { age, city: CITIES[place], new: fresh }, y });
  }).join("\n");
}

/** One sample as a value: `{x, y}`, or `{y}` for a model without features. */
export function exampleSample(model, dim, named = false) {
  const y = takes(model, "class") ? 0 : takes(model, "0 or more") ? 3 : 1;
  if (!model.features) return { y };
  if (named) return { x: { age: 30, city: "Rome" }, y };
  const x = Array.from({ length: dim ?? FEW }, (_, k) => [0.5, -1.2][k] ?? round(Math.sin(k)));
  return { x, y };
}

function label(model, score, { classes = 2 }) {
  const noisy = score + 0.3 * gaussian();
  if (takes(model, "class")) return noisy > 0.4 ? classes - 1 : noisy < -0.4 ? 0 : 1 % classes;
  if (takes(model, "0 or more")) return Math.max(0, Math.round(Math.exp(noisy / 2)));
  if (takes(model, "0 or 1")) return Number(noisy > (model.features ? 0 : -0.1));
  return round(model.features ? noisy : 3 + noisy);
}

function takes({ domain }, words) {
  return domain.includes(words);
}

function gaussian() {
  const [u, v] = [1 - Math.random(), Math.random()];
  return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v);
}

function round(value) {
  return Math.round(value * 1000) / 1000;
}
