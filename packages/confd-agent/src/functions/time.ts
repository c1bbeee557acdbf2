/** Points in time as templates see them: Go's time.Time with its methods and layouts. */
import {
  bool,
  type GoFunction,
  INT,
  int,
  int64,
  STRING,
  string,
  struct,
  type Type,
  type Value,
} from "@quartet/go-template";
import { type Clock, MONTHS, WEEKDAYS } from "./calendar.ts";
import { formatLayout, LAYOUT_STRING } from "./layout.ts";

const NANOS_PER_MILLI = 1_000_000n;
const MILLIS_PER_MINUTE = 60_000;
const MILLIS_PER_DAY = 86_400_000;

type Zone = "UTC" | "Local";
interface Instant {
  /** Nanoseconds since 1970. */
  readonly nanos: bigint;
  readonly zone: Zone;
}

const named = (name: string, names: readonly string[], from: number): Type => ({
  kind: "int",
  name,
  print: (value) => names[Number(value.data) - from] ?? `%!${name.split(".")[1]}(${value.data})`,
});
const MONTH = named("time.Month", MONTHS, 1);
const WEEKDAY = named("time.Weekday", WEEKDAYS, 0);
const LOCATION: Type = {
  kind: "struct",
  name: "*time.Location",
  print: (value) => (value.kind === "struct" ? (value.data[0]?.data as string) : ""),
  methods: {
    String: (value) => ({
      parameters: [],
      call: () => (value.kind === "struct" ? value.data[0] : undefined),
    }),
  },
};

export const TIME: Type = {
  kind: "struct",
  name: "time.Time",
  print: (value) => formatLayout(LAYOUT_STRING, clockOf(instantOf(value))),
  methods: {
    ...Object.fromEntries(
      (
        [
          ["Year", ({ year }) => year],
          ["Day", ({ day }) => day],
          ["Hour", ({ hour }) => hour],
          ["Minute", ({ minute }) => minute],
          ["Second", ({ second }) => second],
          ["Nanosecond", ({ nanosecond }) => nanosecond],
          ["YearDay", ({ yearDay }) => yearDay],
        ] as [string, (clock: Clock) => number][]
      ).map(([name, read]) => [name, method([], (instant) => int(read(clockOf(instant))))]),
    ),
    Month: method([], (instant) => ({ kind: "int", type: MONTH, data: BigInt(clockOf(instant).month) })),
    Weekday: method([], (instant) => ({
      kind: "int",
      type: WEEKDAY,
      data: BigInt(clockOf(instant).weekday),
    })),
    Unix: method([], ({ nanos }) => int64(floorDivide(nanos, 1_000_000_000n))),
    UnixMilli: method([], ({ nanos }) => int64(floorDivide(nanos, NANOS_PER_MILLI))),
    UnixMicro: method([], ({ nanos }) => int64(floorDivide(nanos, 1000n))),
    UnixNano: method([], ({ nanos }) => int64(nanos)),
    IsZero: method([], () => bool(false)),
    UTC: method([], ({ nanos }) => timeValue({ nanos, zone: "UTC" })),
    Local: method([], ({ nanos }) => timeValue({ nanos, zone: "Local" })),
    Location: method([], ({ zone }) => struct(LOCATION, [string(zone)])),
    String: method([], (instant) => string(formatLayout(LAYOUT_STRING, clockOf(instant)))),
    Format: method([STRING], (instant, layout) =>
      string(formatLayout(layout?.data as string, clockOf(instant))),
    ),
    AddDate: method([INT, INT, INT], (instant, ...amounts) =>
      timeValue(
        addDate(
          instant,
          amounts.map((amount) => Number(amount?.data)),
        ),
      ),
    ),
    Zone: () => ({
      parameters: [],
      unusable: "invalid function signature for Zone: second return value should be error; is int",
      call: () => undefined,
    }),
  },
};

/** The value of a point in time, in nanoseconds since 1970, in the zone of this process. */
export const localTime = (nanos: bigint): Value => timeValue({ nanos, zone: "Local" });

function method(
  parameters: readonly Type[],
  call: (instant: Instant, ...args: readonly (Value | undefined)[]) => Value,
): (receiver: Value) => GoFunction {
  return (receiver) => ({ parameters, call: (args) => call(instantOf(receiver), ...args) });
}

const timeValue = ({ nanos, zone }: Instant): Value => struct(TIME, [int(nanos), string(zone)]);

function instantOf(value: Value): Instant {
  const [nanos, zone] = value.kind === "struct" ? value.data : [];
  return { nanos: nanos?.data as bigint, zone: zone?.data as Zone };
}

const floorDivide = (value: bigint, by: bigint): bigint => {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
};

function clockOf({ nanos, zone }: Instant): Clock {
  const millis = Number(floorDivide(nanos, NANOS_PER_MILLI));
  const offset = zone === "UTC" ? 0 : -new Date(millis).getTimezoneOffset();
  // The fields of UTC, moved by the offset, are those of the zone.
  const date = new Date(millis + offset * MILLIS_PER_MINUTE);
  const year = date.getUTCFullYear();
  const startOfDay = Date.UTC(year, date.getUTCMonth(), date.getUTCDate());
  return {
    year,
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    nanosecond: Number(nanos - floorDivide(nanos, 1_000_000_000n) * 1_000_000_000n),
    weekday: date.getUTCDay(),
    yearDay: (startOfDay - Date.UTC(year, 0, 1)) / MILLIS_PER_DAY + 1,
    offset,
    zone: zone === "UTC" ? "UTC" : zoneName(millis),
  };
}

function zoneName(millis: number): string {
  const format = new Intl.DateTimeFormat("en-US", { timeZoneName: "short" });
  return format.formatToParts(millis).find(({ type }) => type === "timeZoneName")?.value ?? "UTC";
}

/** Adds years, months and days on the calendar of the zone; what overflows a month runs into the next. */
function addDate({ nanos, zone }: Instant, [years = 0, months = 0, days = 0]: readonly number[]): Instant {
  const clock = clockOf({ nanos, zone });
  const { year, month, day, hour, minute, second, nanosecond } = clock;
  const parts = [year + years, month - 1 + months, day + days, hour, minute, second] as const;
  const millis = zone === "UTC" ? Date.UTC(...parts) : new Date(...parts).getTime();
  return { nanos: BigInt(millis) * NANOS_PER_MILLI + BigInt(nanosecond), zone };
}
