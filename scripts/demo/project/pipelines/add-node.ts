/** An item pipeline: note on every item which node made it. */
export default function addNode({ item, nodeId }: { item: Record<string, unknown>; nodeId: string }) {
  return { ...item, node: nodeId };
}
