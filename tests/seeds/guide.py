"""The code blocks of the first seed, as they stand there, and the lines of them that change."""

# ruff: noqa: E501

import re

from tests.docs.pages import DOCS

SAVED_MODEL = """\
model.save('path/to/location')
"""

H5 = """\
model.save("my_h5_model.h5")
"""

ONNX = """\
dummy_input = torch.randn(10, 3, 224, 224, device="cuda")
model = torchvision.models.alexnet(pretrained=True).cuda()

input_names = [ "actual_input_1" ] + [ "learned_%d" % i for i in range(16) ]
output_names = [ "output1" ]

torch.onnx.export(model, dummy_input, "alexnet.onnx", verbose=True, input_names=input_names, output_names=output_names)
"""

SAVE_MODEL = """\
from src.model import MyModel

def leap_save_model(target_file_path: Path):
    my_model = MyModel()
    model.save(target_file_path)
"""

PREPROCESSING = """\
from sklearn.model_selection import train_test_split
from src.etl.datasetintegration.datasetbinder import SubsetResponse

def extract_fn(tfrecord):
    # Extract features using the keys set during creation
    features = {
        'image_fpath': tf.FixedLenFeature([], tf.string),
        'target': tf.FixedLenFeature([], tf.int64)
    }

    # Extract the data record
    sample = tf.parse_single_example(tfrecord, features)
    return sample

def preprocessing():
    # arrange the data
    train_path = "Tensorleap/train.tfrecord"
    validation_path = "Tensorleap/validation.tfrecord"

    train_dataset = tf.data.TFRecordDataset([train_path]).map(extract_fn)
    validation_dataset = tf.data.TFRecordDataset([validation_path]).map(extract_fn)

    train_dataset = list(train_dataset.as_numpy_iterator())
    validation_dataset = list(validation_dataset.as_numpy_iterator())

    train = SubsetResponse(length=len(train_dataset), data=train_dataset)
    val = SubsetResponse(length=len(validation_dataset), data=validation_dataset)

    response = [train, val]
    return response
"""

INPUT_ENCODER = """\
def image_input_encoder(self,idx,subset_response):
    image_fpath = subset_response.data[idx]["image_fpath"]
    img = imread(image_fpath)
    return img
"""

GROUND_TRUTH_ENCODER = """\
def ground_truth_encoder(self,idx,subset_response):
    return subset_response.data[idx]["target"]
"""

METADATA = """\
def color_metadata(self,idx,subset_response):
    gender = subset_response.data[idx]["color"] #black, blue, brown, gray, green, orange, pink, red, violet, white, yellow
    return color

def shape_metadata(self,idx,subset_response):
    gender = subset_response.data[idx]["shape"] #long, round, rectangular, square
    return gender
"""

TEST = """\
train_data, validation_data = preprocessing()
fetch_idx = 0 # or any other index.

# for testing the training set
input_feature_1 = image_input_encoder(fetch_idx, train_data)
ground_truth_1 = ground_truth_encoder(fetch_idx, train_data)

# print the training sample
print(input_feature_1)
print(ground_truth_1)

# for testing the validation set
input_feature_1 = image_input_encoder(fetch_idx, validation_data)
ground_truth_1 = ground_truth_encoder(fetch_idx, validation_data)

# print the training sample
print(input_feature_1)
print(ground_truth_1)
"""

BINDING = """\
from src.contract.common.enums import DatasetInputType, DatasetOutputType, DatasetMetadataType

leap.set_subset(ratio=1, function=preprocessing, name='ImageClassificationSubset')

leap.set_input(function=image_input_encoder, subset='ImageClassificationSubset', input_type=DatasetInputType.Image, name='Image')

leap.set_ground_truth(function=ground_truth_encoder, subset='ImageClassificationSubset',
                      ground_truth_type=DatasetOutputType.Classes,
                      name='ground_truth', labels=['Dog', 'Cat', 'Mouse'], masked_input=None)

leap.set_metadata(function=color_metadata, subset='ImageClassificationSubset', metadata_type=DatasetMetadataType.string,
                  name='color')
leap.set_metadata(function=shape_metadata, subset='ImageClassificationSubset', metadata_type=DatasetMetadataType.string,
                  name='shape')
"""

ADDITIONAL_EXAMPLE = """\
from typing import List
from src.contract.common.enums import DatasetInputType, DatasetOutputType, DatasetMetadataType
from src.etl.datasetintegration.datasetbinder import SubsetResponse

import tensorflow as tf
from keras.datasets import mnist
import numpy as np

def subset_subset0() -> List[SubsetResponse]:
    (trainX, trainy), (testX, testy) = mnist.load_data()
    return [SubsetResponse(length=10000, data={"data": trainX, "label": trainy}),
            SubsetResponse(length=10000, data={"data": testX, "label": testy})]


def input_image(idx, samples):
    img = samples.data["data"][idx]
    return np.array(img)[..., np.newaxis]


def ground_truth_num(idx, samples):
    label = samples.data["label"][idx]
    return np.eye(10)[label]


def metadata_label(idx, samples):
    label = samples.data["label"][idx]
    return str(label)


leap.set_subset(1.0, subset_subset0, 'subset0')

leap.set_input(input_image, 'subset0', DatasetInputType.Image, 'image')

leap.set_ground_truth(ground_truth_num, 'subset0', DatasetOutputType.Classes, 'num',
                      labels=['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'], masked_input=None)

leap.set_metadata(metadata_label, 'subset0', DatasetMetadataType.int, 'label')
"""

ROW = re.compile(r"^\| (?:`([^`]+)`|\(none\)) \| [^|]+ \| `([^`]+)` \|$", re.MULTILINE)


def changes(section: str) -> list[tuple[str, str]]:
    """The lines of a seed that change, old and new, as `docs/seeds/changes.md` lists them; old is empty for new ones."""
    page = (DOCS / "seeds" / "changes.md").read_text(encoding="utf-8")
    found = re.search(rf"(?ms)^### {re.escape(section)}$(.*?)(?=^##|\Z)", page)
    assert found, f"changes.md has no section {section!r}"
    return ROW.findall(found[1])


def changed(block: str, section: str) -> str:
    """A block with its listed lines changed. Each listed line must be there, and lines to add come first."""
    lines = block.splitlines()
    added = []
    for old, new in changes(section):
        if not old:
            added.append(new)
            continue
        places = [i for i, line in enumerate(lines) if line.strip() == old]
        assert places, f"{old!r} is not in the block {section!r}"
        for i in places:
            lines[i] = lines[i].replace(old, new)
    return "\n".join([*added, *lines, ""])
