/** What the console says to somebody who begins: on a board without work, and without a model. */
export const firstSteps = {
  title: "First steps",
  tryTool: "Try a tool",
  tryToolWhy: "Choose one, fill in its form, and run it.",
  connect: "Connect a source",
  connectWhy: "A REST API, an MCP server or a database: its operations become tools.",
  addDocuments: "Add documents",
  addDocumentsWhy: "Make a base, put files in, and answers name their page.",
  done: "Done",
  next: "Next",

  noModel: "No model is set",
  startWith: "To chat, start the server with a model:",
  command: "PEGBOARD_MODEL=openai:gpt-5.2 OPENAI_API_KEY=… pegboard serve",
  otherModels: "Any server with OpenAI’s API works too, by OPENAI_BASE_URL.",
  worksWithout: "Tools, plans and runs work without one.",
  whoSetsIt: "Whoever runs this board can set one.",
} as const;
