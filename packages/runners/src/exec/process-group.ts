/**
 * Signals every process of the group that `leader` leads. Processes that made a group or session of their own (`setsid`)
 * have left it and are not reached: a pid namespace holds those, or `endStragglers` looks for them.
 */
export const signalGroup = (leader: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-leader, signal);
  } catch {
    // Nobody is left in the group, or those who are belong to another user: nothing more can be done from here.
  }
};
