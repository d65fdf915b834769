import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '@capstan/contracts';
import { type BuiltinTool, invalidInputs } from './builtin-tool.js';

const CONDITIONS = [
  'Sunny',
  'Partly cloudy',
  'Cloudy',
  'Light rain',
  'Thunderstorms',
  'Windy',
  'Foggy',
  'Snow',
] as const;
const DEFAULT_DAYS = 5;
const MAX_DAYS = 14;

/** Invented weather that is the same for a city and a day, ignoring case. */
export const getWeather: BuiltinTool = ({ city, unit = 'celsius' }) => {
  const wrong = problem(city, unit);
  if (wrong) return invalidInputs(wrong);
  return { success: true, payload: { city: city ?? '', unit, ...weatherOf(city, 0, unit) } };
};

export const getForecast: BuiltinTool = ({ city, unit = 'celsius', days = DEFAULT_DAYS }) => {
  const wrong = problem(city, unit);
  if (wrong) return invalidInputs(wrong);
  if (typeof days !== 'number' || !Number.isInteger(days) || days < 1 || days > MAX_DAYS)
    return invalidInputs(`days must be a whole number from 1 to ${MAX_DAYS}`);
  const forecast = Array.from({ length: days }, (_, day) => ({ day: day + 1, ...weatherOf(city, day + 1, unit) }));
  return { success: true, payload: { city: city ?? '', unit, days, forecast } };
};

function problem(city: Json | undefined, unit: Json): string | null {
  if (typeof city !== 'string' || city.trim() === '') return 'city must be the name of a city';
  return unit === 'celsius' || unit === 'fahrenheit' ? null : 'unit must be celsius or fahrenheit';
}

function weatherOf(city: Json | undefined, day: number, unit: Json): JsonObject {
  const seed = createHash('sha256')
    .update(`${String(city).trim().toLowerCase()}\n${day}`)
    .digest();
  const byte = (at: number) => seed.readUInt8(at);
  const conditions = CONDITIONS[byte(0) % CONDITIONS.length] ?? CONDITIONS[0];
  // Snow at 30 degrees would look wrong.
  const celsius = conditions === 'Snow' ? (byte(1) % 12) - 10 : (byte(1) % 33) + 1;
  return {
    temperature: unit === 'fahrenheit' ? Math.round((celsius * 9) / 5 + 32) : celsius,
    conditions,
    humidity_percent: 30 + (byte(2) % 66),
    wind_kmh: byte(3) % 60,
  };
}
