/** Schedules in the five fields of cron: minute, hour, day of month, month, day of week. All times are UTC. */

/** Values that each field allows. */
export interface Schedule {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** Days of month and of week are both given: either is enough, as in crontab(5). */
  readonly eitherDay: boolean;
}

/** Lowest and highest value of each field. Day of week: 0 and 7 are Sunday. */
const FIELDS = [
  { name: "minute", low: 0, high: 59 },
  { name: "hour", low: 0, high: 23 },
  { name: "day of month", low: 1, high: 31 },
  { name: "month", low: 1, high: 12 },
  { name: "day of week", low: 0, high: 7 },
] as const;

type Field = (typeof FIELDS)[number];

/** A list of values, ranges or `*`, each with an optional step. */
const PART = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** 29 February returns after eight years at the latest, round the turn of a century. */
const LONGEST_WAIT_DAYS = 8 * 366;

/** Reads a schedule such as `"0,30 8-18 * * 1-5"`. Throws `TypeError` naming the field that it cannot read. */
export function parseSchedule(text: string): Schedule {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== FIELDS.length) {
    throw new TypeError(`schedule ${JSON.stringify(text)}: it needs five fields, for example "0 3 * * *"`);
  }
  const [minutes, hours, days, months, weekdays] = FIELDS.map((field, index) => {
    const values = valuesOf(parts[index]!, field);
    if (values !== undefined) return values;
    throw new TypeError(
      `schedule ${JSON.stringify(text)}: ${field.name} ${JSON.stringify(parts[index])} must be made of numbers from ` +
        `${field.low} to ${field.high}, ranges, lists, "*" and "/step"`,
    );
  }) as [Set<number>, Set<number>, Set<number>, Set<number>, Set<number>];
  if (weekdays.delete(7)) weekdays.add(0);
  const eitherDay = !parts[2]!.startsWith("*") && !parts[4]!.startsWith("*");
  const schedule = { minutes, hours, days, months, weekdays, eitherDay };
  if (Number.isNaN(nextTime(schedule, 0))) {
    throw new TypeError(`schedule ${JSON.stringify(text)}: no month has such a day`);
  }
  return schedule;
}

function valuesOf(text: string, { low, high }: Field): Set<number> | undefined {
  const values = new Set<number>();
  for (const part of text.split(",")) {
    const match = PART.exec(part);
    if (match === null) return undefined;
    const [, first, last, every] = match;
    const from = Number(first ?? low);
    // `5/10` means from 5 on, as in most implementations.
    const to = Number(last ?? (first !== undefined && every === undefined ? first : high));
    const step = Number(every ?? 1);
    if (from < low || to > high || from > to || step === 0) return undefined;
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return values;
}

/**
 * The first time after `after` that fits, both in milliseconds since the Unix epoch; `NaN` when there is none.
 */
export function nextTime(schedule: Schedule, after: number): number {
  const start = (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS;
  const firstDay = Math.floor(start / DAY_MS) * DAY_MS;
  for (let day = 0; day <= LONGEST_WAIT_DAYS; day += 1) {
    const midnight = firstDay + day * DAY_MS;
    if (!fitsDay(schedule, new Date(midnight))) continue;
    for (let time = Math.max(start, midnight); time < midnight + DAY_MS; time += MINUTE_MS) {
      const date = new Date(time);
      if (schedule.hours.has(date.getUTCHours()) && schedule.minutes.has(date.getUTCMinutes())) return time;
    }
  }
  return Number.NaN;
}

function fitsDay(schedule: Schedule, date: Date): boolean {
  if (!schedule.months.has(date.getUTCMonth() + 1)) return false;
  const day = schedule.days.has(date.getUTCDate());
  const weekday = schedule.weekdays.has(date.getUTCDay());
  return schedule.eitherDay ? day || weekday : day && weekday;
}
