import type { Clue } from './words.js';

/** What an extension that asks for a permission is able to do. */
export function cluesInPermissions(permissions: readonly string[]): Clue[] {
  return permissions.flatMap((permission): Clue[] => {
    const why = `the permission ${permission}`;
    switch (permission) {
      case 'network':
        return [{ risk: 'HIGH', side_effect: 'network.http', why }];
      case 'browser':
        return [{ risk: 'HIGH', side_effect: 'network.http', why }];
      case 'filesystem.read':
        return [{ risk: 'LOW', side_effect: 'fs.read', why }];
      case 'filesystem.write':
        return [{ risk: 'HIGH', side_effect: 'fs.write', why }];
      case 'payments':
        return [{ risk: 'CRITICAL', side_effect: 'payments', why }];
      default:
        return permission.startsWith('cloud') ? [{ risk: 'CRITICAL', side_effect: 'cloud.resource_create', why }] : [];
    }
  });
}
