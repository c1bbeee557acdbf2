/** `@peculiar/x509`, ready for use: it needs the metadata polyfill before and a crypto provider after its import. */
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

x509.cryptoProvider.set(webcrypto);

export { x509 };
