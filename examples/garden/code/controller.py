"""Opens and closes the drip lines. Runs every ten minutes on the small computer in the shed."""

from dataclasses import dataclass
from datetime import datetime, time

DAWN = time(5, 0)
MORNING_ENDS = time(7, 0)
LOWEST_TANK_LITRES = 200


@dataclass
class Bed:
    name: str
    moisture_percent: float
    dry_below_percent: float


def beds_to_water(beds: list[Bed], rain_tomorrow_mm: float) -> list[Bed]:
    """The dry beds, driest first. Five millimetres of rain save us the round."""
    if rain_tomorrow_mm >= 5:
        return []
    dry = [bed for bed in beds if bed.moisture_percent < bed.dry_below_percent]
    return sorted(dry, key=lambda bed: (bed.moisture_percent - bed.dry_below_percent, bed.name))


def is_watering_time(now: datetime) -> bool:
    """Only at dawn: at noon it evaporates, in the evening it brings blight."""
    return DAWN <= now.time() < MORNING_ENDS


def choose_source(tank_litres: float) -> str:
    """Rain first; the pump must never draw air."""
    return "tank" if tank_litres >= LOWEST_TANK_LITRES else "mains"
