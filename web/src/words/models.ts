/** What the console says about language models that people add. */
export const modelWords = {
  models: "Models added by people",
  what: "Those who see one choose it in a chat and for their agents. Each person uses a key of their own, or one that its owner shares.",
  failed: "The models could not be loaded",
  noModel: "There is no such model",
  add: "Add a model",
  nameOf: "Name of the model",
  model: "Model, as its provider names it",
  provider: "Provider",
  providers: { openai: "OpenAI, or a server with its API", anthropic: "Anthropic" },
  address: "Address of the server (optional)",
  addressHint: "As https://host/v1. Addresses of this network are refused.",
  inputPrice: "US dollars for a million tokens of input (optional)",
  outputPrice: "US dollars for a million tokens of output (optional)",
  key: "Key",
  keyWhat: "Its key is stored as a credential, apart from the model.",
  storeKey: "Keys for this model",
  deleteWhat:
    "Nobody can choose it any more, from the next request on. Chats that use it need another one.",
} as const;
