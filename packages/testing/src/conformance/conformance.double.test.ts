import { startDouble } from "../apiserver-double/index.ts";
import { defineConformance } from "./suite.testkit.ts";

defineConformance(() => startDouble(), "double");
