import { type BuiltinTool, invalidInputs } from './builtin-tool.js';

/** More than there are time zones. Their names are input, so the cache must be bounded. */
const MAX_ZONES = 1000;

type Zone = { offset: Intl.DateTimeFormat; human: Intl.DateTimeFormat };

/** The time by `clock` in an IANA time zone: as RFC 3339, as Unix seconds, or in words. */
export const createCurrentTime = (clock: () => Date): BuiltinTool => {
  const zoneNamed = createZones();
  return ({ timezone = 'UTC', format = 'iso8601' }) => {
    if (typeof timezone !== 'string') return invalidInputs('timezone must be a string');
    const zone = zoneNamed(timezone);
    if (!zone) return invalidInputs(`unknown timezone "${timezone}"; take an IANA name such as Europe/Paris`);
    const now = clock();
    switch (format) {
      case 'iso8601':
        return { success: true, payload: { time: toIso(now, timezone, zone), timezone, format } };
      case 'unix':
        return { success: true, payload: { time: Math.floor(now.getTime() / 1000), timezone, format } };
      case 'human':
        return { success: true, payload: { time: zone.human.format(now), timezone, format } };
      default:
        return invalidInputs('format must be iso8601, unix or human');
    }
  };
};

const createZones = (): ((name: string) => Zone | undefined) => {
  const zones = new Map<string, Zone>();
  return (name) => {
    const known = zones.get(name);
    if (known) return known;
    const zone = openZone(name);
    if (zones.size >= MAX_ZONES) zones.clear();
    if (zone) zones.set(name, zone);
    return zone;
  };
};

const openZone = (timeZone: string): Zone | undefined => {
  try {
    return {
      offset: new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' }),
      human: new Intl.DateTimeFormat('en-US', { timeZone, dateStyle: 'full', timeStyle: 'long' }),
    };
  } catch {
    return undefined;
  }
};

const toIso = (now: Date, timezone: string, zone: Zone): string => {
  if (timezone === 'UTC') return now.toISOString();
  const offset = offsetOf(now, zone);
  return new Date(now.getTime() + minutesOf(offset) * 60_000).toISOString().replace('Z', offset);
};

/** `+02:00`. For UTC, ICU returns GMT+00:00 or GMT, depending on its version. */
const offsetOf = (now: Date, zone: Zone): string => {
  const name = zone.offset.formatToParts(now).find(({ type }) => type === 'timeZoneName')?.value;
  return name?.slice('GMT'.length) || '+00:00';
};

const minutesOf = (offset: string): number => {
  const [hours = 0, minutes = 0] = offset.slice(1).split(':').map(Number);
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
};
