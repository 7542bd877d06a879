// The board by the gate: who may pick what today. Rendered once an hour.

export interface Crop {
  name: string;
  bed: number;
  ripeFrom: Date;
  sharesLeft: number;
}

/** A member may take one share of each ripe crop, until the shares are gone. */
export function ripeToday(crops: Crop[], today: Date): Crop[] {
  return crops
    .filter((crop) => crop.ripeFrom <= today && crop.sharesLeft > 0)
    .sort((a, b) => a.bed - b.bed || a.name.localeCompare(b.name));
}

/** Splits a weighed harvest into equal shares, rounded down to 50 g; the rest goes to the soup kitchen. */
export function shareOut(grams: number, members: number): { share: number; soupKitchen: number } {
  if (members <= 0) {
    return { share: 0, soupKitchen: grams };
  }
  const share = Math.floor(grams / members / 50) * 50;
  return { share, soupKitchen: grams - share * members };
}
