/** Finds a page of sessions: the service lists them by name, a filter walks through its pages. */

const [STRIDE, MOST_STRIDES] = [1000, 20];
const VALUES = {
  loss: ({ loss }) => loss?.recent ?? null,
  last: ({ last_sample_at: at }) => at ?? null,
};

/**
 * Rows after `cursor` whose name holds `filter`; `next` is null at the end. By name they come page
 * by page. In another order, or of one activity, all are read, and `cursor` counts rows.
 */
export async function find(api, { filter, activity, order, cursor, size, signal }) {
  if (activity || order.by !== "name" || order.down) {
    const all = await everything(api, signal);
    const holds = ({ name }) => name.toLowerCase().includes(filter.toLowerCase());
    const wanted = all.filter((one) => holds(one) && (!activity || one.activity === activity));
    return slice(wanted.sort(comparing(order)), Number(cursor) || 0, size);
  }
  if (!filter) return page(api, cursor, size, signal);
  const wanted = filter.toLowerCase();
  const sessions = [];
  let next = cursor;
  for (let k = 0; k < MOST_STRIDES && next !== null && sessions.length <= size; k += 1) {
    const found = await page(api, next, STRIDE, signal);
    sessions.push(...found.sessions.filter(({ name }) => name.toLowerCase().includes(wanted)));
    next = found.next;
  }
  if (sessions.length <= size) return { sessions, next };
  return { sessions: sessions.slice(0, size), next: sessions[size - 1].name };
}

async function everything(api, signal) {
  const all = [];
  let next = "";
  for (let k = 0; k < MOST_STRIDES && next !== null; k += 1) {
    const found = await page(api, next, STRIDE, signal);
    all.push(...found.sessions);
    next = found.next;
  }
  return all;
}

function slice(sessions, from, size) {
  const next = from + size < sessions.length ? String(from + size) : null;
  return { sessions: sessions.slice(from, from + size), next };
}

/** Rows without a value come last, whichever way the others are sorted. */
function comparing({ by, down }) {
  const value = VALUES[by] ?? ((row) => row[by] ?? null);
  return (a, b) => {
    const [left, right] = [value(a), value(b)];
    if (left === right) return a.name < b.name ? -1 : 1;
    if (left === null || right === null) return left === null ? 1 : -1;
    return (left < right ? -1 : 1) * (down ? -1 : 1);
  };
}

/** How many sessions there are in all, null if that is not known. */
export async function howMany(api, signal) {
  const { total } = await api.get("/v1/sessions?limit=1&total=true", { signal }).catch(() => ({}));
  return total ?? null;
}

function page(api, cursor, limit, signal) {
  const query = new URLSearchParams({ limit, cursor: cursor ?? "" });
  return api.get(`/v1/sessions?${query}`, { signal });
}
