import { expect, test } from "vitest";
import { parseSearch, readSearch, stringifySearch } from "../src/app/search";

test("a search parameter stands in the address as it is", () => {
  expect(stringifySearch({ page: "1", span: "0-9", revision: "2", q: undefined })).toBe(
    "?page=1&span=0-9&revision=2",
  );
});

test.each(["1", "007", "1e3", "true", "null", '"quoted"', "[draft]", "a & b", "100%", "é"])(
  "%s is read as it was written",
  (text) => {
    const read = readSearch("q")(parseSearch(stringifySearch({ q: text })));

    expect(read).toEqual({ q: text });
  },
);
