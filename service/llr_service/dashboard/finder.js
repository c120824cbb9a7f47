/** Finds a page of sessions: the service lists them by name, a filter walks through its pages. */

const [STRIDE, MOST_STRIDES] = [1000, 20];

/** Rows after `cursor` whose name holds `filter`; `next` is null at the end. */
export async function find(api, { filter, cursor, size, signal }) {
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

/** How many sessions there are in all, null if that is not known. */
export async function howMany(api, signal) {
  const { total } = await api.get("/v1/sessions?limit=1&total=true", { signal }).catch(() => ({}));
  return total ?? null;
}

function page(api, cursor, limit, signal) {
  const query = new URLSearchParams({ limit, cursor: cursor ?? "" });
  return api.get(`/v1/sessions?${query}`, { signal });
}
