"""The published files of each data set: pages, addresses, sizes and checksums."""

from __future__ import annotations

from collections.abc import Mapping

from sigmavae.data.source import Download

PUBLISHED: Mapping[str, tuple[str, tuple[Download, ...]]] = {
    "svhn": (
        "http://ufldl.stanford.edu/housenumbers/",
        (
            Download(
                "train_32x32.mat",
                "http://ufldl.stanford.edu/housenumbers/train_32x32.mat",
                "md5:e26dedcc434d2e4c54c9b2d4a06d8373",
                182.040794,
            ),
            Download(
                "test_32x32.mat",
                "http://ufldl.stanford.edu/housenumbers/test_32x32.mat",
                "md5:eb5a983be6a315427106f1b164d9cef3",
                64.275384,
            ),
        ),
    ),
    "cifar": (
        "https://www.cs.toronto.edu/~kriz/cifar.html",
        (
            Download(
                "cifar-10-binary.tar.gz",
                "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
                "md5:c32a1d4ab5d03f1284b67883e8d87530",
                170.052171,
            ),
        ),
    ),
    "celeba": (
        "https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html",  # for research that is not commercial
        (
            # Its publisher keeps it on Google Drive, which sends a page instead of a large file without confirm=t,
            # and whenever too many have asked for the file that day.
            Download(
                "img_align_celeba.zip",
                "https://drive.usercontent.google.com/download?id=0B7EVK8r0v71pZjFTYXZWM3FlRnM"
                "&resourcekey=0-dYn9z10tMJOBAkviAcfdyQ&export=download&confirm=t",
                "md5:00d2c5bc6d35e252742224ab0c1e8fcb",
                1443.490838,
            ),
            Download(
                "list_eval_partition.txt",
                "https://drive.usercontent.google.com/download?id=0B7EVK8r0v71pY0NSMzRuSXJEVkk"
                "&resourcekey=0-i4TGCi_51OtQ5K9FSp4EDg&export=download&confirm=t",
                "md5:d32c9cbf5e040fd4025c592c306e6668",
                2.836386,
            ),
        ),
    ),
    "frey": (
        "https://cs.nyu.edu/~roweis/data.html",
        (Download("frey_rawface.mat", "https://cs.nyu.edu/~roweis/data/frey_rawface.mat", None, 1.1),),
    ),
    "mnist": (
        "http://yann.lecun.com/exdb/mnist/",
        (
            Download(
                "train-images-idx3-ubyte.gz",
                "https://ossci-datasets.s3.amazonaws.com/mnist/train-images-idx3-ubyte.gz",
                "md5:f68b3c2dcbeaaa9fbdd348bbdeb94873",
                9.912422,
            ),
            Download(
                "t10k-images-idx3-ubyte.gz",
                "https://ossci-datasets.s3.amazonaws.com/mnist/t10k-images-idx3-ubyte.gz",
                "md5:9fb629c4189551a2d022fa330f9573f3",
                1.648877,
            ),
        ),
    ),
    "fashion-mnist": (
        "https://github.com/zalandoresearch/fashion-mnist",
        (
            Download(
                "train-images-idx3-ubyte.gz",
                "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/train-images-idx3-ubyte.gz",
                "md5:8d4fb7e6c68d591d4c3dfef9ec88bf0d",
                26.421880,
            ),
            Download(
                "t10k-images-idx3-ubyte.gz",
                "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/t10k-images-idx3-ubyte.gz",
                "md5:bef4ecab320f06d8554ea6380940ec79",
                4.422102,
            ),
        ),
    ),
    "bair": (
        "https://sites.google.com/berkeley.edu/robotic-interaction-datasets",
        (
            Download(
                "bair_robot_pushing_dataset_v0.tar",
                "http://rail.eecs.berkeley.edu/datasets/bair_robot_pushing_dataset_v0.tar",
                "sha256:c6f8d164ab2be07174ef597e3e070d7466f3142caddc467b6af119b9458cd9cd",
                32274.964480,
            ),
        ),
    ),
}
"""A data set's name to the page of its publisher, with licence and terms, and its files."""
