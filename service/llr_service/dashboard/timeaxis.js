/** An axis of wall-clock time: where its marks stand, and how a moment is written. */

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const SECONDS = [1, 5, 15, 30].map((n) => 1000 * n);
const MINUTES = [1, 5, 15, 30].map((n) => MINUTE * n);
const HOURS = [1, 3, 6, 12].map((n) => HOUR * n);
const DAYS = [1, 2, 7, 30, 91, 365].map((n) => DAY * n);
const STEPS = [...SECONDS, ...MINUTES, ...HOURS, ...DAYS];

/** Marks between two times in ms since 1970, at round times of the reader's zone. */
export function timeMarks(low, high, most) {
  const step = STEPS.find((one) => one >= (high - low) / most) ?? STEPS.at(-1);
  const zone = new Date(low).getTimezoneOffset() * MINUTE;
  const marks = [];
  for (let k = Math.ceil((low - zone) / step); k * step + zone <= high; k += 1) {
    const value = k * step + zone;
    marks.push({ value, label: written(value, step) });
  }
  return marks;
}

/** A moment as the crosshair reads it: 18 Nov, 14:03:22. */
export function moment(ms) {
  const date = new Date(ms);
  return `${dayOf(date)}, ${date.toLocaleTimeString("en-GB")}`;
}

function written(ms, step) {
  const date = new Date(ms);
  if (step >= DAY) return dayOf(date);
  return date.toLocaleTimeString("en-GB").slice(0, step < MINUTE ? 8 : 5);
}

function dayOf(date) {
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}
