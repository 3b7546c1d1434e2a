// What a form of a question shows, and the address of its page.

type JsonSchema = Record<string, unknown>;

/** The schema with the title of each field in its hint: the name is what is sent. */
export function labelFields(schema: JsonSchema): JsonSchema {
  const fields = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  const labelled = fields.map(([name, field]) => {
    const said = [field.title, field.description].filter((item) => item && item !== name);
    return [name, { ...field, title: undefined, description: said.join(": ") || undefined }];
  });
  return { ...schema, properties: Object.fromEntries(labelled) };
}

/** The defaults that a form begins with. */
export function startAnswer(schema: JsonSchema | null): Record<string, unknown> {
  const fields = Object.entries((schema?.properties ?? {}) as Record<string, JsonSchema>);
  return Object.fromEntries(
    fields.flatMap(([name, field]) => (field.default === undefined ? [] : [[name, field.default]])),
  );
}

/** The page of an address as the browser reads it; null for one that is no page of the web. */
export function readPage(url: string): { href: string; host: string } | null {
  try {
    const { href, host, protocol } = new URL(url);
    return protocol === "https:" || protocol === "http:" ? { href, host } : null;
  } catch {
    return null;
  }
}
