import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, test, vi } from "vitest";
import { Markdown } from "../src/parts/markdown";

vi.stubGlobal("navigator", {}); // Node 20 has none

const render = (text: string) => renderToStaticMarkup(<Markdown text={text} />);

describe("an answer", () => {
  test("draws paragraphs, lists, tables and code", () => {
    const html = render(
      "A **b**\n\n1. one\n2. two\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```\nx < y\n```",
    );
    expect(html).toContain("<b>");
    expect(html).toContain("<ol");
    expect(html).toContain('<td class="r">');
    expect(html).toContain("x &lt; y");
  });

  test.each([
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a <svg onload=alert(1)> b",
    "[x](javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "![x](https://example.com/track.png)",
    "<iframe src='https://example.com'></iframe>",
    '<a href="https://example.com" onclick="alert(1)">x</a>',
  ])("keeps %s as text or as a link", (text) => {
    const html = render(text);
    expect(html).not.toMatch(/<(script|img|svg|iframe|style|object)/i);
    expect(html).not.toMatch(/href="(?!https?:|mailto:)/i);
    expect(html).not.toMatch(/<[^>]* on\w+=/i);
  });

  test.each([
    ["# A\n\n## B\n\n# C", "h3 h4 h3"],
    ["## A\n\n#### B\n\n### C", "h3 h4 h4"],
    ["### A\n\n# B\n\n### C", "h3 h3 h4"],
    ["> # A\n\n- # B\n  ## C", "h3 h3 h4"],
    ["# 1\n## 2\n### 3\n#### 4\n##### 5\n###### 6", "h3 h4 h5 h6 h6 h6"],
  ])("has headings below those of the page, without a gap: %j", (text, levels) => {
    expect([...render(text).matchAll(/<(h\d)/g)].map((found) => found[1]).join(" ")).toBe(levels);
  });

  test("begins below the heading of a page that has no other", () => {
    expect(renderToStaticMarkup(<Markdown text="## A" under={1} />)).toContain("<h2 ");
  });

  test("says where a link leads when its text does not", () => {
    expect(render("[the docs](https://example.com/a)")).toContain("example.com)");
    expect(render("https://example.com/a")).not.toContain("(example.com)");
  });

  test("lets each block run in the direction of its own text, and code from the left", () => {
    const html = render("# א\n\nא\n\n- א\n\n> א\n\n| א |\n|---|\n| א |\n\n```js\nlet x;\n```");
    for (const name of ["h3", "p", "ul", "blockquote", "section"])
      expect(html).toMatch(new RegExp(`<${name}[^>]* dir="auto"`));
    expect(html).toContain("<li>");
    expect(html).toContain('dir="ltr"');
    expect(html).toContain("<figcaption>js");
  });

  test("does not escape twice", () => {
    expect(render("Tom & Jerry < 3")).toContain("Tom &amp; Jerry &lt; 3");
  });
});
