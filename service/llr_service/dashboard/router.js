/** Addresses within the page: `#/`, `#/s/NAME`, `#/compare/A,B`, `#/system`. */

/** What an address asks for: `{page, names}`. What it does not know is the list. */
export function parse(hash) {
  const [, page = "", rest = ""] = /^#\/([^/]*)\/?(.*)$/.exec(hash) ?? [];
  const names = rest.split(",").filter(Boolean).map(decoded);
  if (page === "s" && names.length) return { page: "session", names: [decoded(rest)] };
  if (page === "compare") return { page: "compare", names: [...new Set(names)] };
  return { page: page === "system" ? "system" : "list", names: [] };
}

/** The address of a session's page. */
export function toSession(name) {
  return `#/s/${encodeURIComponent(name)}`;
}

/** The address that compares sessions. */
export function toCompare(names) {
  return `#/compare/${names.map(encodeURIComponent).join(",")}`;
}

/** The address of the list. */
export const TO_LIST = "#/";

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
