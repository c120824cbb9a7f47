/**
 * Samples as people paste them: JSON goes as it is, lines of JSON become a list, and lines of
 * numbers, y last, become columns; a heading names the features of a session that has names. All
 * is sent whole, so it is learnt whole or not at all; a problem's place leads back to the line
 * and the field it came from.
 */

/** A text that is not samples; `line` and `column` count from 1. */
export class Unclear extends Error {
  constructor(message, line, column) {
    super(message);
    Object.assign(this, { line, column });
  }
}

/** `{body, place}`; `place(error)` is `{line, column, rest}` of a service's error, or null. */
export function parseSamples(text, features, named = false) {
  if (!text.trim()) throw new Unclear("There is nothing to send yet.", null, null);
  if (isJsonText(text)) return isLines(text) ? ndjson(text) : json(text);
  return named ? namedCsv(text) : csv(text, features);
}

/** Lines of fields with their numbers, and the heading, null if there is none. */
export function tableOf(text) {
  const lines = text.split("\n").map((line, i) => ({ number: i + 1, fields: split(line) }));
  const full = lines.filter(({ fields }) => fields.length);
  const heading = full.length > 1 && full[0].fields.every((one) => !isNumeric(one));
  return { header: heading ? full[0].fields : null, rows: heading ? full.slice(1) : full };
}

/** A field as JSON has it: a number where it is one. */
export function valueOf(field) {
  return isNumeric(field) ? Number(field) : field;
}

/** Whether a field is a finite number. */
export function isNumeric(field) {
  return field !== "" && Number.isFinite(Number(field));
}

/** Whether a text is meant as JSON, of one value or a line each. */
export function isJsonText(text) {
  return /^\s*[[{]/.test(text);
}

function isLines(text) {
  const [first, second] = text.split("\n").filter((line) => line.trim());
  return Boolean(second) && first.trim().startsWith("{") && isJson(first);
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function ndjson(text) {
  const lines = text.split("\n").map((line, i) => ({ number: i + 1, line }));
  const full = lines.filter(({ line }) => line.trim());
  const bad = full.find(({ line }) => !isJson(line));
  if (bad) throw new Unclear("is not JSON", bad.number, null);
  const place = ({ pointer }) => {
    const [, row, rest] = /^\/(\d+)(.*)$/.exec(pointer ?? "") ?? [];
    return row in full ? { line: full[row].number, column: null, rest } : null;
  };
  return { body: `[${full.map(({ line }) => line).join(",")}]`, place };
}

function json(text) {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new Unclear(`Not JSON: ${error.message}`, lineOf(text, error), null);
  }
  return { body: text, place: () => null };
}

/** Where a parser gave up: some say the line, some the position. */
function lineOf(text, { message }) {
  const [, line] = /line (\d+)/.exec(message) ?? [];
  const [, position] = /position (\d+)/.exec(message) ?? [];
  if (line) return Number(line);
  return position ? text.slice(0, Number(position)).split("\n").length : null;
}

function csv(text, features) {
  const { rows: full } = tableOf(text);
  const rows = full.map(({ number, fields }) => {
    return fields.map((one, k) => toNumber(one, number, k + 1));
  });
  const y = rows.map((row) => row.at(-1));
  const x = rows.map((row) => row.slice(0, -1));
  if (features) full.forEach(({ number, fields }) => fields.length < 2 && tooShort(number));
  const plain = !features && rows.every((row) => row.length === 1);
  const body = JSON.stringify(plain ? { y } : { x, y });
  return { body, place: (error) => placed(error, full) };
}

/** Lines below a heading: features by name, y last. */
function namedCsv(text) {
  const { header, rows } = tableOf(text);
  if (!header) throw new Unclear("The first line has to name the features, and y last.", 1, null);
  return { body: JSON.stringify(namedSamples(header, rows)), place: ({ pointer }) => {
    const [, row] = /^\/(\d+)/.exec(pointer ?? "") ?? [];
    return row in rows ? { line: rows[row].number, column: null } : null;
  } };
}

/** Samples of rows below a heading; an empty field is a feature left out. */
export function namedSamples(header, rows, label = valueOf) {
  return rows.map(({ number, fields }) => {
    if (fields.length !== header.length) {
      throw new Unclear(`${fields.length} fields, the heading has ${header.length}`, number, null);
    }
    const pairs = header.slice(0, -1).map((name, k) => [name, valueOf(fields[k])]);
    return { x: Object.fromEntries(pairs.filter(([, value]) => value !== "")),
      y: label(fields.at(-1)) };
  });
}

function split(line) {
  const trimmed = line.trim();
  if (!trimmed) return [];
  const separator = [";", "\t", ","].find((one) => trimmed.includes(one)) ?? /\s+/;
  return trimmed.split(separator).map((one) => one.trim());
}

function toNumber(text, line, column) {
  if (isNumeric(text)) return Number(text);
  const said = text === "" ? "nothing between two commas" : `“${text}” is not a finite number`;
  throw new Unclear(said, line, column);
}

function tooShort(line) {
  throw new Unclear("features first, then y: at least two numbers a line", line, null);
}

/** `/x/3/1` and `/y/3` are fields of the fourth line that had any. */
function placed({ pointer }, full) {
  const [, member, row, column] = /^\/(x|y)\/(\d+)(?:\/(\d+))?$/.exec(pointer ?? "") ?? [];
  const line = full[Number(row)];
  if (!line) return null;
  if (member === "y") return { line: line.number, column: line.fields.length };
  return { line: line.number, column: column === undefined ? null : Number(column) + 1 };
}
