export {
  type Connection,
  type ConnectionOptions,
  type Environment,
  type FoundKey,
  findConnection,
} from './find-connection.js';
export { findProfile, type Profile, type Profiles, profilesFile, readProfiles } from './profiles.js';
