export { type Architecture, NOT_THERE, numberOf, OF_THE_MACHINE, REFUSED } from '../seccomp/refused-calls.js';
export * from './processes-with.js';
export * from './works-here.js';
