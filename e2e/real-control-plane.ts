/** One real control plane for the whole suite; test files attach to it by its handle. */
import { addNode, startControlPlane, testClient } from "@quartet/testing";
import type { TestProject } from "vitest/node";

/** Pods get loopback addresses, so that a test server can listen on the very address of a pod. */
const POD_CIDR = "127.1.0.0/16";

/** Starts the control plane with one node; the returned function stops it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const controlPlane = await startControlPlane({ podCidr: POD_CIDR });
  const client = testClient(await controlPlane.kubeconfig());
  await addNode(client, "node-0");
  client.close();
  project.provide("controlPlane", controlPlane.handle);
  return () => controlPlane.stop();
}
