import { inject } from "vitest";
import { attachControlPlane } from "../control-plane/attach.ts";
import { defineConformance } from "./suite.testkit.ts";

defineConformance(async () => attachControlPlane(inject("controlPlane")), "real");
