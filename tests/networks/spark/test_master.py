"""Settings of training masters, in both spellings and in files."""
from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

from dl4py.samediff.errors import ConfigurationError
from dl4py.spark import ParameterAveragingTrainingMaster as Master
from dl4py.spark import Repartition, RepartitionStrategy, SharedTrainingMaster, TrainingHook


def test_builder_and_files_of_settings():
    made = (Master.Builder(3, 1).averagingFrequency(2).batchSizePerWorker(4).workerPrefetchNumBatches(1).saveUpdater(False)
            .aggregationDepth(3).repartionData(Repartition.Never).repartitionStrategy(RepartitionStrategy.SparkDefault)
            .storageLevel("MEMORY_ONLY_SER").rngSeed(12345).collectTrainingStats(True).trainingHooks(TrainingHook()).build())
    assert made.settings.num_workers == 3 and made.settings.repartition_data is Repartition.Never
    assert Master.fromJson(made.toJson()).settings == made.settings == Master.from_yaml(made.to_yaml()).settings
    assert made.get_is_collect_training_stats()


def test_hooks_come_and_go():
    hook, master = TrainingHook(), Master()
    master.add_hook(hook)
    master.remove_hook(hook)
    hook.pre_update(None, None), hook.post_update(None, None)
    assert master._hooks == [] and master.delete_temp_files()


@pytest.mark.parametrize("make, text", [
    (lambda: Master(workers=0), "num_workers must be at least 1, got 0"),
    (lambda: Master(averaging_frequency=0), "averaging_frequency must be at least 1"),
    (lambda: Master(storage_level="MEMORY"), "storage_level must be the name of a storage level"),
    (lambda: Master(rdd_training_approach="Export"), "Export writes the batches into export_directory"),
    (lambda: Master(worker_prefetch_num_batches=-1), "must be 0 .none. or more"),
    (lambda: Master(training_hooks=[3]), "of classes derived from TrainingHook; got 3"),
    (lambda: Master.Builder(1, 2, 3), "got 3 arguments"),
    (lambda: SharedTrainingMaster.Builder(1), "Use ParameterAveragingTrainingMaster.averaging_frequency=1."),
    (lambda: SharedTrainingMaster(), "mesh of DL4J's own"),
])
def test_settings_that_are_refused(make, text):
    with pytest.raises(ConfigurationError, match=text):
        make()
