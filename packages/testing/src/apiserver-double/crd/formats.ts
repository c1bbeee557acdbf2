/** String formats that the server checks in custom resources. */
import { isIP } from "node:net";

const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const DURATION =
  /^(\d+(\.\d+)?\s*(ns|us|µs|μs|ms|s|m|h|d|w|nanosecond|microsecond|millisecond|second|minute|hour|day|week)s?\s*)+$/;
const EMAIL = /^[^@\s]+@[^@\s]+$/;
const HOSTNAME = /^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)*$/;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const MAC = /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i;

function isUri(text: string): boolean {
  return URL.canParse(text) || text.startsWith("/");
}

const FORMATS: Record<string, (text: string) => boolean> = {
  date: (text) => DATE.test(text) && !Number.isNaN(Date.parse(text)),
  "date-time": (text) => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text.replace(" ", "T"))),
  datetime: (text) => DATE_TIME.test(text),
  duration: (text) => DURATION.test(text),
  email: (text) => EMAIL.test(text),
  hostname: (text) => HOSTNAME.test(text) && text.length <= 255,
  ipv4: (text) => isIP(text) === 4,
  ipv6: (text) => isIP(text) === 6,
  ip: (text) => isIP(text) !== 0,
  cidr: (text) => isIP(text.split("/")[0]!) !== 0 && /\/\d+$/.test(text),
  uri: isUri,
  uuid: (text) => UUID.test(text),
  uuid4: (text) => UUID.test(text),
  byte: (text) => BASE64.test(text),
  mac: (text) => MAC.test(text),
};

/** Whether a text has a format; formats that the server does not know always fit. */
export function hasFormat(format: string, text: string): boolean {
  return FORMATS[format]?.(text) ?? true;
}
