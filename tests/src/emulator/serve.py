# Runs the emulator with a fix: an imported table that has no name in the template keeps its name. Without the
# fix, the emulator creates a second, empty table under a generated name.
import runpy

from ministack.services.cloudformation import provisioners

table = provisioners._RESOURCE_HANDLERS["AWS::DynamoDB::Table"]
update = table["update"]


def update_under_its_name(name, old, new, stack, logical_id=None):
    if "TableName" not in old and "TableName" not in new:
        old, new = {**old, "TableName": name}, {**new, "TableName": name}
    return update(name, old, new, stack, logical_id)


table["update"] = update_under_its_name
runpy.run_module("ministack", run_name="__main__")
