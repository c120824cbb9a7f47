/**
 * A proposal for a session from a few pasted rows: which model by what the label looks like,
 * features by name if the rows have a heading or words, and the classes by name if it has words.
 */

import { plural } from "./format.js";
import { isJsonText, isNumeric, namedSamples, tableOf, Unclear } from "./parse.js";

const [MOST_CLASSES, ENOUGH] = [20, 3];

/** `{model, config, body, words}`: what to create, the rows as samples, and why, in words. */
export function propose(text) {
  const { header, rows } = isJsonText(text) ? fromJson(text) : withNames(tableOf(text));
  if (rows.length < ENOUGH) {
    throw new Unclear(`At least ${ENOUGH} rows are needed to see what y is.`, null, null);
  }
  const label = labelOf(rows.map(({ fields }) => String(fields.at(-1))));
  const width = rows[0].fields.length - 1;
  const uneven = rows.find(({ fields }) => fields.length !== width + 1);
  if (uneven) {
    const counted = `${plural(uneven.fields.length, "field", "fields")}, not ${width + 1}`;
    throw new Unclear(counted, uneven.number, null);
  }
  if (!width) return alone(label, rows);
  const named = header !== null;
  const samples = named ? namedSamples(header, rows, label.value)
    : rows.map(({ fields }) => {
      return { x: fields.slice(0, -1).map(Number), y: label.value(fields.at(-1)) };
    });
  const config = { ...label.config, ...(named ? { named: true } : { dim: width }) };
  const features = named ? `features by name: ${listed(header.slice(0, -1))}`
    : plural(width, "feature", "features");
  const y = named ? `${header.at(-1)} (the last column)` : "The last column";
  const words = `${y} ${label.words}. ${plural(rows.length, "row", "rows")}, ${features}.`;
  return { model: label.model, config, body: JSON.stringify(samples), words };
}

/** Without a heading names are made up, but only if a feature is a word. */
function withNames({ header, rows }) {
  const words = rows.some(({ fields }) => fields.slice(0, -1).some((one) => !isNumeric(one)));
  if (header || !words) return { header, rows };
  return { header: rows[0].fields.map((_, k) => `x${k + 1}`), rows };
}

/** A label alone: the mean of numbers, or the share of ones. */
function alone(label, rows) {
  const model = { linear: "gaussian", logistic: "bernoulli" }[label.model];
  if (!model) throw new Unclear("A single column of classes has nothing to predict from.", 1, null);
  const y = rows.map(({ fields }) => label.value(fields[0]));
  const words = `${plural(rows.length, "row", "rows")} of one column: no features, y alone.`;
  return { model, config: label.config, body: JSON.stringify({ y }), words };
}

/** What a label is: `{model, config, words, value}` by its texts. */
function labelOf(texts) {
  const distinct = [...new Set(texts)].sort();
  if (distinct.some((one) => !isNumeric(one))) return ofWords(distinct);
  const numbers = distinct.map(Number).sort((a, b) => a - b);
  const found = (model, words, options = null) => {
    return { model, config: options ? { options } : {}, words, value: Number };
  };
  if (numbers.every((one) => one === 0 || one === 1)) return found("logistic", "is 0 or 1");
  const whole = numbers.every((one) => Number.isInteger(one) && one >= 0);
  const few = numbers.length <= MOST_CLASSES && texts.length >= 2 * numbers.length;
  if (whole && few && numbers.every((one, k) => one === k)) {
    const classes = `is one of the classes 0 to ${numbers.at(-1)}`;
    return found("softmax", classes, { classes: numbers.length });
  }
  const counts = whole ? " (whole numbers: if they are counts, choose poisson)" : "";
  return found("linear", `is a number${counts}`);
}

function ofWords(distinct) {
  if (distinct.length > MOST_CLASSES || distinct.length < 2) {
    const counted = plural(distinct.length, "different text", "different texts");
    throw new Unclear(`y, the last column, has ${counted}: give numbers or a few classes.`);
  }
  const model = distinct.length === 2 ? "logistic" : "softmax";
  const words = `is one of ${listed(distinct)}`;
  return { model, config: { classes: distinct }, words, value: String };
}

/** Samples of JSON as rows: those of objects have a heading. */
function fromJson(text) {
  const samples = parsed(text);
  const bare = samples.some((one) => one?.y === undefined);
  if (bare) throw new Unclear("Each sample needs a y: {\"x\": …, \"y\": …}.", null, null);
  const named = samples.some(({ x }) => x && !Array.isArray(x));
  const names = named ? [...new Set(samples.flatMap(({ x }) => Object.keys(x ?? {})))] : null;
  const fields = ({ x, y }) => {
    const own = named ? names.map((name) => x?.[name] ?? "") : x ?? [];
    return [...own, y].map(String);
  };
  const rows = samples.map((one, i) => ({ number: i + 1, fields: fields(one) }));
  return { header: named ? [...names, "y"] : null, rows };
}

function parsed(text) {
  try {
    const whole = JSON.parse(text);
    return Array.isArray(whole) ? whole : [whole];
  } catch {
    const lines = text.split("\n").filter((line) => line.trim());
    return lines.map((line, i) => {
      try {
        return JSON.parse(line);
      } catch {
        throw new Unclear("is not JSON", i + 1, null);
      }
    });
  }
}

function listed(names) {
  return names.length > 6 ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} more`
    : names.join(", ");
}
