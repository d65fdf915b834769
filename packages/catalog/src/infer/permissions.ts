import type { Clue } from './words.js';

/**
 * What an extension with a permission can do. Permissions bound the sandbox of all its actions, so they describe a single
 * action only if it declares nothing itself.
 */
export function cluesInPermissions(permissions: readonly string[]): Clue[] {
  return permissions.flatMap((permission): Clue[] => {
    const why = `the permission ${permission}`;
    switch (permission) {
      case 'network':
        return [{ risk: 'HIGH', side_effect: 'network.http', why, weak: true }];
      case 'browser':
        return [{ risk: 'HIGH', side_effect: 'network.http', why, weak: true }];
      case 'filesystem.read':
        return [{ risk: 'LOW', side_effect: 'fs.read', why, weak: true }];
      case 'filesystem.write':
        return [{ risk: 'HIGH', side_effect: 'fs.write', why, weak: true }];
      case 'payments':
        return [{ risk: 'CRITICAL', side_effect: 'payments', why, weak: true }];
      default:
        return permission.startsWith('cloud')
          ? [{ risk: 'CRITICAL', side_effect: 'cloud.resource_create', why, weak: true }]
          : [];
    }
  });
}
