/**
 * Samples as people paste them: JSON goes as it is, lines of JSON become a list, and lines of
 * numbers, y last, become columns. All is sent whole, so it is learnt whole or not at all; a
 * problem's place leads back to the line and the field it came from.
 */

/** A text that is not samples; `line` and `column` count from 1. */
export class Unclear extends Error {
  constructor(message, line, column) {
    super(message);
    Object.assign(this, { line, column });
  }
}

/** `{body, place}`; `place(error)` is `{line, column, rest}` of a service's error, or null. */
export function parseSamples(text, features) {
  if (!text.trim()) throw new Unclear("There is nothing to send yet.", null, null);
  if (/^\s*[[{]/.test(text)) return isLines(text) ? ndjson(text) : json(text);
  return csv(text, features);
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
  const lines = text.split("\n").map((line, i) => ({ number: i + 1, fields: split(line) }));
  const full = lines.filter(({ fields }) => fields.length);
  if (full.length > 1 && full[0].fields.every((one) => Number.isNaN(Number(one)))) full.shift();
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

function split(line) {
  const trimmed = line.trim();
  if (!trimmed) return [];
  const separator = [";", "\t", ","].find((one) => trimmed.includes(one)) ?? /\s+/;
  return trimmed.split(separator).map((one) => one.trim());
}

function toNumber(text, line, column) {
  const value = Number(text);
  if (text !== "" && Number.isFinite(value)) return value;
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
