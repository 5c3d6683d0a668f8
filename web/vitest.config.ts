import { defineConfig } from "vitest/config";

// Tests wait for events, and a busy machine needs longer. A test that hangs fails after a minute.
export default defineConfig({ test: { hookTimeout: 60_000, testTimeout: 60_000 } });
