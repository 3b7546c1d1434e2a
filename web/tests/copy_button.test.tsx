import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, expect, test, vi } from "vitest";
import { CopyButton } from "../src/parts/copy_button";

afterEach(() => vi.unstubAllGlobals());

test("what a button has copied is said beside it, where its own name does not hide it", () => {
  vi.stubGlobal("navigator", { clipboard: {} });
  const drawn = renderToStaticMarkup(<CopyButton text="x" label="Copy" />);

  expect(drawn).toMatch(/<\/button><span [^>]*role="status"/);
});

test("a page that cannot copy has no button", () => {
  vi.stubGlobal("navigator", {});

  expect(renderToStaticMarkup(<CopyButton text="x" label="Copy" />)).toBe("");
});
