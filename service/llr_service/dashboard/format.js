/** Numbers and times as people read them. What is not known is a dash. */

export const NOTHING = "–";

const GROUPED = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const SUPERSCRIPTS = { "-": "⁻", ...Object.fromEntries([..."⁰¹²³⁴⁵⁶⁷⁸⁹"].entries()) };

/** A measured number with a few digits: 0.4213, 1.776e−5. */
export function number(value, digits = 4) {
  if (!isNumber(value)) return NOTHING;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e6) return minus(tidy(value.toExponential(digits - 1)));
  if (size >= 1e3) return minus(GROUPED.format(value));
  return minus(tidy(value.toPrecision(digits)));
}

/** A count in full: 12,345. */
export function count(value) {
  return isNumber(value) ? minus(GROUPED.format(value)) : NOTHING;
}

/** How many a second: 0, 12.4, 3.1K. */
export function perSecond(value) {
  return isNumber(value) ? SHORT.format(value) : NOTHING;
}

/** A number of bytes: 812 B, 3.4 MB. */
export function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const step = bytes < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  return `${number(bytes / 1000 ** step, step ? 3 : 4)} ${units[step]}`;
}

/** A power of ten: 10⁻³. */
export function power(exponent) {
  return "10" + [...String(exponent)].map((digit) => SUPERSCRIPTS[digit]).join("");
}

/** The time of day: 14:03:22. */
export function clock(date) {
  return date.toLocaleTimeString("en-GB");
}

/** A day and its time: 18 Nov 2026, 14:03. */
export function day(at) {
  return new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/** A share: 94.5 %. */
export function percent(value) {
  return isNumber(value) ? `${number(100 * value, 3)} %` : NOTHING;
}

/** How long ago an RFC 3339 time was: 12 s ago. */
export function ago(at, now = Date.now()) {
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1000));
  if (!isNumber(seconds)) return NOTHING;
  const units = [[86_400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const [size, unit] = units.find(([least]) => seconds >= least) ?? units.at(-1);
  return `${Math.floor(seconds / size)} ${unit} ago`;
}

/** One of two words by a number: plural(2, "sample", "samples"). */
export function plural(n, one, many) {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** Whether a value is a finite number. */
export function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

function tidy(written) {
  const [mantissa, exponent] = written.split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return exponent === undefined ? short : `${short}e${exponent.replace("+", "")}`;
}

function minus(written) {
  return written.replaceAll("-", "−");
}
