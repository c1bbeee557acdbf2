/** The controllers that this program is made of. */
import type { ControllerModule } from "@quartet/core";
import { dsPatchesModule } from "@quartet/ds-patches";
import { nacosModule } from "@quartet/nacos-config";
import { tarsModule } from "@quartet/tars-tserver";
import { tunnelModule } from "@quartet/tunnel-config";

/** All controller packages, in the order in which they start. */
export const MODULES: readonly ControllerModule[] = [nacosModule, dsPatchesModule, tarsModule, tunnelModule];
