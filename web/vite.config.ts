import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  base: "/ui/",
  plugins: [react()],
  build: {
    target: "es2023",
    modulePreload: { polyfill: false },
    // Small files stay files: the console's Content-Security-Policy has no `data:` for fonts.
    assetsInlineLimit: 0,
  },
  experimental: {
    // What a page loads later is found from the address of the file that asks, so that the console
    // works behind a path prefix. The server rewrites the addresses in index.html.
    renderBuiltUrl: (_, { hostType }) => (hostType === "html" ? undefined : { relative: true }),
  },
  server: { proxy: { "/v1": { target: "http://127.0.0.1:8321", changeOrigin: false } } },
});
