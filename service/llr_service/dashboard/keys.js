/** The API key: asked for when the service wants one, kept for this tab, forgotten on demand. */

const PLACE = "llr.key";

/** Holds the key. `prompt(refused, again)` asks the user and resolves to a key or null. */
export class Keys extends EventTarget {
  #asking = null;

  constructor(prompt) {
    super();
    this.prompt = prompt;
  }

  /** The key in use, or null. */
  get current() {
    return sessionStorage.getItem(PLACE);
  }

  /** Ask for a key because `tried` was refused; many may ask at once, the user is asked once. */
  async ask(tried, refused) {
    if (this.current !== tried) return true;
    this.#asking ??= this.prompt(refused, tried !== null).finally(() => (this.#asking = null));
    const given = await this.#asking;
    if (given) this.#keep(given);
    return Boolean(given);
  }

  /** Forget the key. */
  forget() {
    sessionStorage.removeItem(PLACE);
    this.dispatchEvent(new Event("change"));
  }

  #keep(key) {
    sessionStorage.setItem(PLACE, key);
    this.dispatchEvent(new Event("change"));
  }
}
