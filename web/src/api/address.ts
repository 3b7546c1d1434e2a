// Where the console and the API are. Both may lie behind a path prefix, which only the address of
// this module tells: `<prefix>/ui/assets/<file>.js`.

const here = import.meta.url;

/** The path below which every page of the console lies, with a slash at both ends. */
export const UI = import.meta.env.DEV ? "/ui/" : new URL("..", here).pathname;

/** The path of the API, without a slash at its end. */
export const API = `${UI.slice(0, -"ui/".length)}v1`;
