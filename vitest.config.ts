import { defineConfig } from "vitest/config";

const resolve = { conditions: ["quartet-source"] };
const ssr = { resolve: { conditions: ["quartet-source"], externalConditions: ["quartet-source"] } };

export default defineConfig({
  resolve,
  ssr,
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "tools/**/*.test.ts"],
          env: { QUARTET_CACHE_GUARD: "1" },
        },
      },
    ],
  },
});
