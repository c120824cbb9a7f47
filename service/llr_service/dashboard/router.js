/** Addresses within the page: `#/`, `#/s/NAME`, `#/s/NAME/TAB`, `#/compare/A,B`, `#/system`. */

/** The tabs of a session's page, by the last part of its address. */
export const TABS = {
  overview: "Overview",
  predict: "Predict",
  parameters: "Parameters",
  shadows: "Shadows",
  samples: "Samples",
  config: "Config",
  code: "Code",
};

/** What an address asks for: `{page, names, tab}`. An address that is not known is the list. */
export function parse(hash) {
  const [, page = "", rest = ""] = /^#\/([^/]*)\/?(.*)$/.exec(hash) ?? [];
  if (page === "s" && rest) return session(rest);
  const names = rest.split(",").filter(Boolean).map(decoded);
  if (page === "compare") return { page: "compare", names: [...new Set(names)] };
  return { page: page === "system" ? "system" : "list", names: [] };
}

/** The address of a session's page, or of one of its tabs. */
export function toSession(name, tab = null) {
  return `#/s/${encodeURIComponent(name)}${tab ? `/${tab}` : ""}`;
}

/** The address that compares sessions. */
export function toCompare(names) {
  return `#/compare/${names.map(encodeURIComponent).join(",")}`;
}

/** The address of the list. */
export const TO_LIST = "#/";

/** A name may hold a slash where it is no valid name; only a known tab is taken off its end. */
function session(rest) {
  const at = rest.lastIndexOf("/");
  const tab = at > 0 && rest.slice(at + 1) in TABS ? rest.slice(at + 1) : null;
  return { page: "session", names: [decoded(tab ? rest.slice(0, at) : rest)], tab };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
